//! The fields of Gardener's kinds in one version: what decoding keeps, what `OpenAPI` shows, and by which of them merges
//! tell the items of a list.
//!
//! What a reader would get wrong: the description covers `spec` only (of exposure classes, all there is). `metadata` is
//! Kubernetes' own, and `status` is written by the controller alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{admission::duration, version::Version};

/// One row per field of a Shoot.
const SHOOT: &str = include_str!("schema/shoot.txt");

/// One row per field of the other kinds.
const OBJECTS: &str = include_str!("schema/objects.txt");

/// What a field may hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Text,
    Integer,
    Number,
    Boolean,
    /// A number, or a percentage as text.
    IntegerOrText,
    Quantity,
    /// As Go writes it: `1h0m0s`.
    Duration,
    /// Text keys with plain values: any, texts, booleans, or quantities.
    Map,
    Texts,
    Flags,
    Quantities,
    /// Whatever the provider's extension makes of it.
    Any,
    List(Box<Form>),
    Object(BTreeMap<String, Form>),
}

/// One row per field of what belongs to a provider.
const PROVIDER: &str = include_str!("schema/provider.txt");

/// What belongs to a provider in a Shoot; nothing for one that has no extension here.
pub(super) fn provider(kind: &str) -> Option<Form> {
    let all = read(PROVIDER, Version::default()).field(kind);
    (all != Form::Any).then_some(all)
}

/// The Shoot of a version.
pub(super) fn shoot(version: Version) -> Form {
    whole(read(SHOOT, version))
}

/// Another kind of a version, such as `Seed`; anything goes for one that is not described.
pub(super) fn object(kind: &str, version: Version) -> Form {
    whole(read(OBJECTS, version).field(kind))
}

fn whole(mut root: Form) -> Form {
    if let Form::Object(fields) = &mut root {
        let strings = ["apiVersion", "kind"].map(|name| (name.to_owned(), Form::Text));
        fields.extend(strings);
        fields.extend(["metadata", "status"].map(|name| (name.to_owned(), Form::Any)));
    }
    root
}

/// The lists of a Shoot that are merged item by item, each with the field that tells its items.
pub(super) fn merge_keys(version: Version) -> Vec<(&'static str, &'static str)> {
    let keys = rows(SHOOT, version).filter(|row| row.is_key);
    keys.filter_map(|row| row.path.rsplit_once("[].")).collect()
}

/// Those of another kind.
pub(super) fn merge_keys_of(kind: &str, version: Version) -> Vec<(String, &'static str)> {
    let keys = rows(OBJECTS, version).filter(|row| row.is_key);
    let own = keys.filter_map(|row| row.path.strip_prefix(kind)?.strip_prefix('.'));
    let lists = own.filter_map(|path| path.rsplit_once("[]."));
    lists.map(|(list, key)| (list.replace("[]", ""), key)).collect()
}

/// The fields of a reference to any object.
const REFERENCE: [&str; 7] =
    ["apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid"];

/// A binding of an account by its Secret.
pub(super) fn secret_binding() -> Form {
    binding(&["secretRef.name", "secretRef.namespace"].map(str::to_owned))
}

/// A binding of an account by any credentials.
pub(super) fn credentials_binding() -> Form {
    binding(&REFERENCE.map(|field| format!("credentialsRef.{field}")))
}

fn binding(reference: &[String]) -> Form {
    let mut root = Form::Object(BTreeMap::new());
    let own = ["apiVersion", "kind", "provider.type"].map(str::to_owned);
    let quotas = REFERENCE.map(|field| format!("quotas[].{field}"));
    for path in own.iter().chain(reference).chain(&quotas) {
        root.add(path, "string");
    }
    root.add("metadata", "any");
    root
}

/// What is said of a field by which merges tell the items of the list around it.
const KEY: &str = "key";

/// A row: one field.
struct Row {
    path: &'static str,
    form: &'static str,
    is_key: bool,
}

/// The fields that a version has.
fn rows(table: &'static str, version: Version) -> impl Iterator<Item = Row> {
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(move |row| {
        let mut words = row.split(' ');
        let (path, form) = (words.next()?, words.next()?);
        let is_there = words.clone().filter(|word| *word != KEY).all(|word| holds(word, version));
        is_there.then(|| Row { path, form, is_key: words.any(|word| word == KEY) })
    })
}

fn read(table: &'static str, version: Version) -> Form {
    let mut root = Form::Object(BTreeMap::new());
    for row in rows(table, version) {
        root.add(row.path, row.form);
    }
    root
}

/// Whether a version is in a range such as `>=102` or `<142`.
fn holds(range: &str, version: Version) -> bool {
    let since = range.strip_prefix(">=").and_then(|since| since.parse().ok());
    let until = range.strip_prefix('<').and_then(|until| until.parse().ok());
    since.is_none_or(|since: u32| version.minor() >= since)
        && until.is_none_or(|until: u32| version.minor() < until)
}

impl Form {
    fn add(&mut self, path: &str, form: &str) {
        let (step, rest) =
            path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
        let name = step.trim_end_matches("[]");
        let Self::Object(fields) = self else { return };
        let lists = step.ends_with("[]");
        let inner = rest.map_or_else(|| Self::of(form), |_| Self::Object(BTreeMap::new()));
        let fresh = if lists { Self::List(Box::new(inner)) } else { inner };
        let field = fields.entry(name.to_owned()).or_insert(fresh);
        let field = match field {
            Self::List(items) => &mut **items,
            other => other,
        };
        if let Some(rest) = rest {
            field.add(rest, form);
        }
    }

    /// One field of an object; anything goes where there is none.
    pub(super) fn field(&self, name: &str) -> Self {
        match self {
            Self::Object(fields) => fields.get(name).cloned().unwrap_or(Self::Any),
            _ => Self::Any,
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "int-or-string" => Self::IntegerOrText,
            "quantity" => Self::Quantity,
            "duration" => Self::Duration,
            "map" => Self::Map,
            "texts" => Self::Texts,
            "flags" => Self::Flags,
            "quantities" => Self::Quantities,
            "any" => Self::Any,
            _ => Self::Text,
        }
    }

    /// Takes out what the description does not have, and names it: `spec.provider.workers[0].foo`.
    pub(super) fn prune(&self, value: &mut Value, path: &str, unknown: &mut Vec<String>) {
        match (self, value) {
            (Self::Object(fields), Value::Object(values)) => {
                let at = |key: &str| {
                    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
                };
                for (key, value) in values.iter_mut() {
                    match fields.get(key) {
                        Some(field) => field.prune(value, &at(key), unknown),
                        None => unknown.push(at(key)),
                    }
                }
                values.retain(|key, _| fields.contains_key(key));
            }
            (Self::List(items), Value::Array(values)) => {
                for (place, value) in values.iter_mut().enumerate() {
                    items.prune(value, &format!("{path}[{place}]"), unknown);
                }
            }
            _ => {}
        }
    }

    /// Writes values as Gardener stores them: durations in Go's form, no empty maps and lists.
    pub(super) fn normalise(&self, value: &mut Value) {
        match (self, value) {
            (Self::Duration, Value::String(written)) => {
                if let Some(normal) = duration::normal(written) {
                    *written = normal;
                }
            }
            (Self::Object(fields), Value::Object(values)) => {
                for (key, value) in values.iter_mut() {
                    if let Some(field) = fields.get(key) {
                        field.normalise(value);
                    }
                }
                values.retain(|key, value| match (fields.get(key), value) {
                    (Some(Self::List(_)), Value::Array(items)) => !items.is_empty(),
                    (
                        Some(Self::Map | Self::Texts | Self::Flags | Self::Quantities),
                        Value::Object(entries),
                    ) => !entries.is_empty(),
                    _ => true,
                });
            }
            (Self::List(items), Value::Array(values)) => {
                for value in values {
                    items.normalise(value);
                }
            }
            _ => {}
        }
    }

    /// The same as `OpenAPI` v3 shows it.
    pub(super) fn open_api(&self) -> Value {
        match self {
            Self::Text | Self::Duration => json!({"type": "string"}),
            Self::Integer => json!({"type": "integer", "format": "int32"}),
            Self::Number => json!({"type": "number", "format": "double"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::IntegerOrText => json!({"x-kubernetes-int-or-string": true}),
            Self::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            Self::Map => json!({"type": "object", "additionalProperties": {}}),
            Self::Texts => json!({"type": "object", "additionalProperties": {"type": "string"}}),
            Self::Flags => json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            Self::Quantities => {
                json!({"type": "object", "additionalProperties": Self::Quantity.open_api()})
            }
            Self::Any => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            Self::List(items) => json!({"type": "array", "items": items.open_api()}),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, form)| (name.clone(), form.open_api()));
                json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()})
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(version: Version, spec: &Value) -> Vec<String> {
        let (mut shoot, mut unknown) = (json!({"kind": "Shoot", "spec": spec}), Vec::new());
        super::shoot(version).prune(&mut shoot, "", &mut unknown);
        unknown
    }

    #[test]
    fn lists_are_merged_by_the_fields_that_are_marked_as_keys() {
        let keys = merge_keys(Version::V1_65);

        let expected = [
            ("spec.dns.providers", "type"),
            ("spec.kubernetes.kubeAPIServer.admissionPlugins", "name"),
            ("spec.provider.workers", "name"),
            ("spec.tolerations", "key"),
        ];
        assert_eq!(keys, expected);
        assert_eq!(merge_keys(Version::V1_117), expected);
        let nested = ("spec.regions.zones".to_owned(), "name");
        assert!(merge_keys_of("CloudProfile", Version::V1_65).contains(&nested));
    }

    #[test]
    fn every_word_of_a_row_is_known() {
        let forms = "string integer number boolean int-or-string quantity duration map texts flags quantities any";
        let forms: Vec<&str> = forms.split(' ').collect();
        for row in [SHOOT, PROVIDER, OBJECTS].into_iter().flat_map(str::lines) {
            let mut words = row.split(' ');
            let (path, form) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let is_range = |word: &str| {
                word.strip_prefix(">=")
                    .or(word.strip_prefix('<'))
                    .is_some_and(|minor| minor.parse::<u32>().is_ok())
            };
            let known = forms.contains(&form) && words.all(|word| word == KEY || is_range(word));
            assert!(path == "#" || known, "{row}");
        }
    }

    #[test]
    fn the_other_kinds_are_described_and_ours_have_only_what_there_is() {
        for version in [Version::V1_65, Version::V1_117] {
            for mut object in crate::garden::furnish::described(version) {
                let kind = object["kind"].as_str().unwrap_or_default().to_owned();
                let (form, mut unknown) = (super::object(&kind, version), Vec::new());
                assert!(matches!(form, Form::Object(_)), "{kind} is not described");

                form.prune(&mut object, "", &mut unknown);

                assert!(unknown.is_empty(), "{version} {kind}: {unknown:?}");
            }
        }
    }

    #[test]
    fn each_version_has_its_own_fields() {
        let server = |field: &str| json!({"kubernetes": {"kubeAPIServer": {field: {"a": 1}}}});
        let at = |field: &str| vec![format!("spec.kubernetes.kubeAPIServer.{field}")];
        let newest: Version = "1.149".parse().unwrap();

        assert_eq!(
            unknown(Version::V1_65, &server("structuredAuthentication")),
            at("structuredAuthentication")
        );
        assert_eq!(
            unknown(Version::V1_117, &server("enableBasicAuthentication")),
            at("enableBasicAuthentication")
        );
        assert_eq!(unknown(newest, &server("oidcConfig")), at("oidcConfig"));
        let known = json!({
            "purpose": "testing",
            "provider": {"infrastructureConfig": {"any": {"thing": 1}}, "workers": [{"name": "a", "labels": {"b": "c"}}]},
        });
        assert!(unknown(Version::V1_65, &known).is_empty());
        assert!(unknown(newest, &known).is_empty());
        let list = json!({"provider": {"workers": [{"name": "a"}, {"foo": 1}]}});
        assert_eq!(unknown(Version::V1_117, &list), ["spec.provider.workers[1].foo"]);
    }
}
