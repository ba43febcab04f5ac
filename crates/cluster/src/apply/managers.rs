//! `metadata.managedFields`: the record of who owns what.

use serde_json::{Value, json};

use super::{Fields, leaves};
use crate::kind::MergeKeys;

/// The name and the operation of a field manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manager {
    /// The `fieldManager`.
    pub(crate) name: String,
    /// By apply, or by any other write.
    pub(crate) applies: bool,
    /// In which version of the kind.
    pub(crate) api_version: String,
    /// `status`, or nothing for the object itself.
    pub(crate) subresource: Option<String>,
}

/// One manager and what it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The manager.
    pub(crate) manager: Manager,
    /// When this changed last.
    pub(crate) time: String,
    /// The fields.
    pub(crate) fields: Fields,
}

impl Entry {
    /// Reads `metadata.managedFields`.
    pub(crate) fn read_all(object: &Value) -> Vec<Self> {
        let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        entries.map(Self::read).collect()
    }

    fn read(written: &Value) -> Self {
        let text = |key: &str| written[key].as_str().unwrap_or_default().to_owned();
        Self {
            manager: Manager {
                name: text("manager"),
                applies: written["operation"] == "Apply",
                api_version: text("apiVersion"),
                subresource: written["subresource"].as_str().map(ToOwned::to_owned),
            },
            time: text("time"),
            fields: Fields::read(&written["fieldsV1"]),
        }
    }

    fn write(&self) -> Value {
        let mut written = json!({
            "manager": self.manager.name,
            "operation": if self.manager.applies { "Apply" } else { "Update" },
            "apiVersion": self.manager.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.write(),
        });
        if let Some(subresource) = &self.manager.subresource {
            written["subresource"] = json!(subresource);
        }
        written
    }

    /// Replaces `metadata.managedFields`; who owns nothing is not mentioned.
    pub(crate) fn write_all(entries: &[Self], object: &mut Value) {
        let entries: Vec<Value> =
            entries.iter().filter(|e| !e.fields.0.is_empty()).map(Self::write).collect();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            if entries.is_empty() {
                metadata.shift_remove("managedFields");
            } else {
                metadata.insert("managedFields".to_owned(), json!(entries));
            }
        }
    }
}

/// Records that `manager` turned `old` into `new` by a write that is no apply: it owns what it
/// changed, and nobody owns any more what it removed.
pub(crate) fn track(
    old: Option<&Value>,
    new: &mut Value,
    keys: &MergeKeys,
    manager: &Manager,
    now: &str,
) {
    let before = old.map(|old| leaves(old, keys)).unwrap_or_default();
    let after = leaves(new, keys);
    let changed: Vec<_> =
        after.iter().filter(|(path, value)| before.get(*path) != Some(*value)).collect();
    let removed: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    // A client may hand in managedFields of its own: that is how kubectl moves its ownership from
    // client-side to server-side apply.
    let given = new["metadata"].get("managedFields").is_some_and(Value::is_array);
    let mut entries = Entry::read_all(if given { new } else { old.unwrap_or(&Value::Null) });
    for entry in &mut entries {
        let held = entry.fields.0.len();
        for path in changed.iter().map(|(path, _)| *path).filter(|_| entry.manager != *manager) {
            entry.fields.0.remove(path);
        }
        for path in &removed {
            entry.fields.0.remove(*path);
        }
        if entry.fields.0.len() != held {
            now.clone_into(&mut entry.time);
        }
    }
    if !changed.is_empty() {
        let changed = changed.into_iter().map(|(path, _)| path.clone());
        if let Some(own) = entries.iter_mut().find(|entry| entry.manager == *manager) {
            own.fields.0.extend(changed);
            now.clone_into(&mut own.time);
        } else {
            let fields = Fields(changed.collect());
            entries.push(Entry { manager: manager.clone(), time: now.to_owned(), fields });
        }
    }
    Entry::write_all(&entries, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(name: &str) -> Manager {
        Manager { name: name.into(), applies: false, api_version: "v1".into(), subresource: None }
    }

    #[test]
    fn whoever_changes_a_field_takes_it_from_its_owner() {
        let mut first = json!({"metadata": {"name": "x"}, "spec": {"a": 1, "b": 1}});
        track(None, &mut first, &[], &manager("one"), "t1");
        let mut second = first.clone();
        second["spec"]["b"] = json!(2);

        track(Some(&first), &mut second, &[], &manager("two"), "t2");

        let entries = Entry::read_all(&second);
        assert_eq!(entries[0].fields.write(), json!({"f:spec": {"f:a": {}}}));
        assert_eq!(entries[1].fields.write(), json!({"f:spec": {"f:b": {}}}));
        assert_eq!((entries[0].time.as_str(), entries[1].time.as_str()), ("t2", "t2"));
    }
}
