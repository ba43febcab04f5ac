//! Sets of field paths, and their written form `FieldsV1`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use serde_json::{Map, Value, json};

use crate::kind::MergeKeys;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Segment {
    /// A key of an object.
    Field(String),
    /// A member of a set of texts.
    Member(String),
    /// The item of a list whose field has this value: field, value.
    Item(String, String),
}

/// From the top of the object to a leaf.
pub(crate) type Path = Vec<Segment>;

/// Some fields of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(pub(crate) BTreeSet<Path>);

/// Fields of `metadata` that the server keeps; no manager owns them.
const UNOWNED: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "uid",
    "selfLink",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// Every leaf of the object that can have an owner, with its value. `keys` are the lists whose items have keys.
pub(crate) fn leaves(object: &Value, keys: &MergeKeys) -> BTreeMap<Path, Value> {
    let mut found = BTreeMap::new();
    for (key, value) in object.as_object().into_iter().flatten() {
        if key != "apiVersion" && key != "kind" {
            collect(value, &mut vec![Segment::Field(key.clone())], keys, &mut found);
        }
    }
    found
}

/// Where a path leads, as the lists that have keys are named.
fn place(path: &[Segment]) -> String {
    let fields = path.iter().filter_map(|segment| match segment {
        Segment::Field(name) => Some(name.as_str()),
        Segment::Member(_) | Segment::Item(..) => None,
    });
    fields.collect::<Vec<_>>().join(".")
}

/// The key of the list at a place and its value in each item; nothing if the list has none, or if an item has none of its own.
pub(super) fn keyed<'a>(
    list: &str,
    items: &'a [Value],
    keys: &'a MergeKeys,
) -> Option<(&'a str, Vec<&'a str>)> {
    let (_, key) = keys.iter().find(|(name, _)| name == list)?;
    let values = items.iter().map(|item| item.get(key)?.as_str());
    let values: Vec<&str> = values.collect::<Option<_>>()?;
    let distinct: BTreeSet<&&str> = values.iter().collect();
    (!items.is_empty() && distinct.len() == items.len()).then_some((key, values))
}

fn collect(value: &Value, path: &mut Path, keys: &MergeKeys, found: &mut BTreeMap<Path, Value>) {
    let in_metadata = matches!(path.as_slice(), [Segment::Field(top)] if top == "metadata");
    match value {
        Value::Null => {}
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                if !(in_metadata && UNOWNED.contains(&key.as_str())) {
                    path.push(Segment::Field(key.clone()));
                    collect(value, path, keys, found);
                    path.pop();
                }
            }
        }
        Value::Object(_) if in_metadata => {}
        Value::Array(items) if is_set(path) => {
            for item in items.iter().filter_map(Value::as_str) {
                let mut path = path.clone();
                path.push(Segment::Member(item.to_owned()));
                found.insert(path, json!(item));
            }
        }
        Value::Array(items) => {
            let list = match path.last() {
                Some(Segment::Field(_)) => keyed(&place(path), items, keys),
                _ => None,
            };
            let Some((key, values)) = list else {
                found.insert(path.clone(), value.clone());
                return;
            };
            for (item, of) in items.iter().zip(values) {
                path.push(Segment::Item(key.to_owned(), of.to_owned()));
                collect(item, path, keys, found);
                path.pop();
            }
        }
        leaf => _ = found.insert(path.clone(), leaf.clone()),
    }
}

fn is_set(path: &[Segment]) -> bool {
    matches!(path, [Segment::Field(a), Segment::Field(b)] if a == "metadata" && b == "finalizers")
}

impl Fields {
    /// Reads `fieldsV1`.
    pub(crate) fn read(written: &Value) -> Self {
        let mut fields = Self::default();
        fields.read_below(written, &mut Vec::new());
        fields
    }

    fn read_below(&mut self, written: &Value, path: &mut Path) {
        let inner: Vec<_> = written.as_object().into_iter().flatten().filter_map(segment).collect();
        if inner.is_empty() && !path.is_empty() {
            self.0.insert(path.clone());
        }
        for (segment, below) in inner {
            path.push(segment);
            self.read_below(below, path);
            path.pop();
        }
    }

    /// Writes `fieldsV1`.
    pub(crate) fn write(&self) -> Value {
        let mut written = Map::new();
        for path in &self.0 {
            let mut here = &mut written;
            for segment in path {
                let key = match segment {
                    Segment::Field(name) => format!("f:{name}"),
                    Segment::Member(member) => format!("v:{}", json!(member)),
                    Segment::Item(key, value) => format!("k:{}", json!({ key: value })),
                };
                let below = here.entry(key).or_insert_with(|| json!({}));
                let Some(below) = below.as_object_mut() else { break };
                here = below;
            }
        }
        Value::Object(written)
    }
}

fn segment<'a>((key, below): (&String, &'a Value)) -> Option<(Segment, &'a Value)> {
    if let Some(name) = key.strip_prefix("f:") {
        return Some((Segment::Field(name.to_owned()), below));
    }
    if let Some(item) = key.strip_prefix("k:") {
        let item: BTreeMap<String, String> = serde_json::from_str(item).ok()?;
        let (key, value) = item.into_iter().next()?;
        return Some((Segment::Item(key, value), below));
    }
    let member = serde_json::from_str(key.strip_prefix("v:")?).ok()?;
    Some((Segment::Member(member), below))
}

/// A path as Kubernetes writes it in messages: `.spec.replicas`.
pub(crate) fn display(path: &Path) -> String {
    path.iter().fold(String::new(), |mut text, segment| {
        let _ = match segment {
            Segment::Field(name) => write!(text, ".{name}"),
            Segment::Member(member) => write!(text, "[={member:?}]"),
            Segment::Item(key, value) => write!(text, "[{key}={value:?}]"),
        };
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_survive_being_written_and_read() {
        let object = json!({
            "apiVersion": "v1", "kind": "X",
            "metadata": {"name": "a", "labels": {"b": "c"}, "finalizers": ["one", "two/2"]},
            "spec": {"list": [1, {"x": 2}], "empty": {}, "n": 1, "nothing": null},
        });
        let fields = Fields(leaves(&object, &[]).into_keys().collect());

        let written = fields.write();

        assert_eq!(Fields::read(&written), fields);
        assert_eq!(
            written,
            json!({
                "f:metadata": {"f:finalizers": {"v:\"one\"": {}, "v:\"two/2\"": {}}, "f:labels": {"f:b": {}}},
                "f:spec": {"f:empty": {}, "f:list": {}, "f:n": {}},
            })
        );
    }

    #[test]
    fn items_of_a_list_with_a_key_are_paths_of_their_own() {
        let keys = [("spec.workers".to_owned(), "name".to_owned())];
        let object = json!({"spec": {"workers": [{"name": "a", "max": 1}, {"name": "b"}]}});
        let twice = json!({"spec": {"workers": [{"name": "a"}, {"name": "a"}]}});
        let fields = Fields(leaves(&object, &keys).into_keys().collect());

        let written = fields.write();

        let workers = json!({
            "k:{\"name\":\"a\"}": {"f:max": {}, "f:name": {}}, "k:{\"name\":\"b\"}": {"f:name": {}},
        });
        assert_eq!(written, json!({"f:spec": {"f:workers": workers}}));
        assert_eq!(Fields::read(&written), fields);
        assert_eq!(display(fields.0.first().unwrap()), ".spec.workers[name=\"a\"].max");
        assert_eq!(leaves(&twice, &keys).len(), 1, "a list whose keys repeat is one leaf");
        let inside = json!({"spec": {"extension": {"workers": [{"name": "a"}]}}});
        assert_eq!(leaves(&inside, &keys).len(), 1, "so is one of the same name elsewhere");
    }
}
