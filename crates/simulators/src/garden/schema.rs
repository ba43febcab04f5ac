//! The fields of Gardener's kinds in one version: what decoding keeps, and what `OpenAPI` shows.
//!
//! What a reader would get wrong: the description covers `spec` only. `metadata` is Kubernetes' own, and `status` is
//! written by the controller alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{admission::duration, version::Version};

/// One row per field of a Shoot.
const SHOOT: &str = include_str!("schema/shoot.txt");

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
    /// Text keys with plain values.
    Map,
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
    let mut root = read(SHOOT, version);
    if let Form::Object(fields) = &mut root {
        let strings = ["apiVersion", "kind"].map(|name| (name.to_owned(), Form::Text));
        fields.extend(strings);
        fields.extend(["metadata", "status"].map(|name| (name.to_owned(), Form::Any)));
    }
    root
}

fn read(rows: &str, version: Version) -> Form {
    let mut root = Form::Object(BTreeMap::new());
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let mut words = row.split(' ');
        let (path, form) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if words.all(|range| holds(range, version)) {
            root.add(path, form);
        }
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
                values.retain(|key, _| {
                    let known = fields.contains_key(key);
                    if !known {
                        unknown.push(at(key));
                    }
                    known
                });
                for (key, value) in values {
                    if let Some(field) = fields.get(key) {
                        field.prune(value, &at(key), unknown);
                    }
                }
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
                    (Some(Self::Map), Value::Object(entries)) => !entries.is_empty(),
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
