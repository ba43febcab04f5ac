//! Server-side apply: a manager sets fields, unless another manager owns them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    Entry, Fields, Manager,
    fields::{Path, Segment, display, keyed},
    leaves,
};
use crate::kind::{MergeKeys, below};

/// A field that another manager owns and that has another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The owner, with version and subresource as Kubernetes writes it.
    pub(crate) owner: String,
    /// Such as `.spec.replicas`.
    pub(crate) field: String,
}

/// Applies `config` to `live`: sets its leaves, removes what the manager owned alone and no longer
/// asks for, and records the ownership.
///
/// `config` must already be narrowed to what the request may change.
pub(crate) fn apply(
    live: &Value,
    config: &Value,
    keys: &MergeKeys,
    manager: &Manager,
    force: bool,
    now: &str,
) -> Result<Value, Vec<Conflict>> {
    let wanted = leaves(config, keys);
    let current = leaves(live, keys);
    let mut entries = Entry::read_all(live);
    // An empty object asks for an object, whatever is in it.
    let is_there = |path: &Path, value: &Value| {
        current.get(path) == Some(value)
            || (value.is_object() && current.keys().any(|have| have.starts_with(path)))
    };
    let differing: Vec<&Path> =
        wanted.iter().filter(|(path, value)| !is_there(path, value)).map(|(p, _)| p).collect();

    let conflicts = conflicts(&entries, &differing, &current, manager);
    if !force && !conflicts.is_empty() {
        return Err(conflicts);
    }
    for entry in entries.iter_mut().filter(|entry| entry.manager != *manager) {
        let held = entry.fields.0.len();
        let taken = |own: &Path| differing.iter().any(|path| contested(own, path, &current));
        entry.fields.0.retain(|own| !taken(own));
        if entry.fields.0.len() != held {
            now.clone_into(&mut entry.time);
        }
    }

    let mut result = live.clone();
    for path in given_up(&entries, &wanted.keys().cloned().collect(), manager) {
        remove(&mut result, &path);
    }
    for (path, value) in &wanted {
        if value.is_object() {
            ensure_object(&mut result, path);
        } else {
            set(&mut result, path, value);
        }
    }
    order(&mut result, live, config, keys, "");
    own(&mut entries, Fields(wanted.into_keys().collect()), manager, now);
    Entry::write_all(&entries, &mut result);
    Ok(result)
}

/// Whether setting `path` takes `own` away. Who owns an empty object does not own what is put into it.
fn contested(own: &Path, path: &Path, current: &BTreeMap<Path, Value>) -> bool {
    own.starts_with(path)
        || (path.starts_with(own) && current.get(own).is_some_and(|value| !value.is_object()))
}

fn conflicts(
    entries: &[Entry],
    differing: &[&Path],
    current: &BTreeMap<Path, Value>,
    manager: &Manager,
) -> Vec<Conflict> {
    let others = entries.iter().filter(|entry| entry.manager != *manager);
    others
        .flat_map(|entry| {
            let lost = differing
                .iter()
                .filter(|path| entry.fields.0.iter().any(|own| contested(own, path, current)));
            lost.map(|path| Conflict { owner: describe(&entry.manager), field: display(path) })
        })
        .collect()
}

fn describe(manager: &Manager) -> String {
    let mut text = format!("{:?}", manager.name);
    if let Some(subresource) = &manager.subresource {
        text = format!("{text} with subresource {subresource:?}");
    }
    if manager.applies { text } else { format!("{text} using {}", manager.api_version) }
}

/// Fields that the manager owned and no longer applies, and that no other manager owns.
fn given_up(entries: &[Entry], wanted: &BTreeSet<Path>, manager: &Manager) -> Vec<Path> {
    let Some(own) = entries.iter().find(|entry| entry.manager == *manager) else {
        return Vec::new();
    };
    let is_shared = |path: &[Segment]| {
        let mut others = entries.iter().filter(|entry| entry.manager != *manager);
        others.any(|entry| entry.fields.0.iter().any(|own| own.starts_with(path)))
    };
    let left = own.fields.0.iter().filter(|path| !wanted.contains(*path));
    left.filter_map(|path| {
        let item = item(path).filter(|item| !wanted.iter().any(|path| path.starts_with(item)));
        match item {
            // With the last of its owners an item goes as a whole, defaults in it too.
            Some(item) if !is_shared(item) => Some(item.to_vec()),
            Some(item) if is_key(path, item) => None,
            _ => (!is_shared(path)).then(|| path.clone()),
        }
    })
    .collect()
}

/// The part of a path that leads to the innermost item of a list.
fn item(path: &[Segment]) -> Option<&[Segment]> {
    let last = path.iter().rposition(|segment| matches!(segment, Segment::Item(..)))?;
    Some(&path[..=last])
}

/// Whether a path leads to the field that an item is found by.
fn is_key(path: &[Segment], item: &[Segment]) -> bool {
    match (item.last(), &path[item.len()..]) {
        (Some(Segment::Item(key, _)), [Segment::Field(field)]) => key == field,
        _ => false,
    }
}

/// Puts new items of lists where the configuration has them, behind those that were there.
fn order(now: &mut Value, before: &Value, config: &Value, keys: &MergeKeys, path: &str) {
    for (name, wanted) in config.as_object().into_iter().flatten() {
        let Some(now) = now.get_mut(name) else { continue };
        let path = below(path, name);
        let list = wanted.as_array().and_then(|items| keyed(&path, items, keys));
        if let (Some((key, values)), Some(items)) = (list, now.as_array_mut()) {
            let there = before[name].as_array().map(Vec::as_slice).unwrap_or_default();
            items.sort_by_key(|item| {
                let old = there.iter().position(|one| one.get(key) == item.get(key));
                let new = values.iter().position(|value| item[key] == **value);
                (old.unwrap_or(usize::MAX), new)
            });
        } else {
            order(now, &before[name], wanted, keys, &path);
        }
    }
}

fn own(entries: &mut Vec<Entry>, fields: Fields, manager: &Manager, now: &str) {
    match entries.iter_mut().find(|entry| entry.manager == *manager) {
        Some(own) if own.fields == fields => {}
        Some(own) => {
            own.fields = fields;
            now.clone_into(&mut own.time);
        }
        None => entries.push(Entry { manager: manager.clone(), time: now.to_owned(), fields }),
    }
}

/// The item of a list with this key, made if there is none.
fn found<'a>(list: &'a mut Value, key: &str, value: &str) -> Option<&'a mut Value> {
    if !list.is_array() {
        *list = json!([]);
    }
    let items = list.as_array_mut()?;
    let place = items.iter().position(|item| item[key] == value).unwrap_or(items.len());
    if place == items.len() {
        items.push(json!({ key: value }));
    }
    items.get_mut(place)
}

fn ensure_object(object: &mut Value, path: &[Segment]) {
    match path {
        [Segment::Item(key, value), rest @ ..] => {
            if let Some(item) = found(object, key, value) {
                ensure_object(item, rest);
            }
        }
        [Segment::Field(name), rest @ ..] => {
            if !object.is_object() {
                *object = json!({});
            }
            ensure_object(&mut object[name], rest);
        }
        _ if !object.is_object() => *object = json!({}),
        _ => {}
    }
}

fn set(object: &mut Value, path: &[Segment], value: &Value) {
    match path {
        [] => *object = value.clone(),
        [Segment::Item(key, of), rest @ ..] => {
            if let Some(item) = found(object, key, of) {
                set(item, rest, value);
            }
        }
        [Segment::Member(member), ..] => {
            if !object.is_array() {
                *object = json!([]);
            }
            if let Some(list) = object.as_array_mut().filter(|l| !l.iter().any(|m| m == member)) {
                list.push(json!(member));
            }
        }
        [Segment::Field(name), rest @ ..] => {
            if !object.is_object() {
                *object = json!({});
            }
            set(&mut object[name], rest, value);
        }
    }
}

/// Removes a leaf, and what became empty by that; whether anything is left says the answer.
fn remove(object: &mut Value, path: &[Segment]) -> bool {
    match (path, &mut *object) {
        ([Segment::Field(name)], Value::Object(map)) => _ = map.shift_remove(name),
        ([Segment::Field(name), rest @ ..], Value::Object(map)) => {
            let left = map.get_mut(name).is_none_or(|below| remove(below, rest));
            if !left {
                map.shift_remove(name);
            }
        }
        ([Segment::Member(member), ..], Value::Array(list)) => list.retain(|m| m != member),
        ([Segment::Item(key, value)], Value::Array(list)) => list.retain(|m| m[key] != *value),
        ([Segment::Item(key, value), rest @ ..], Value::Array(list)) => {
            list.iter_mut().filter(|m| m[key] == *value).for_each(|item| _ = remove(item, rest));
        }
        _ => {}
    }
    match object {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(name: &str) -> Manager {
        Manager { name: name.into(), applies: true, api_version: "v1".into(), subresource: None }
    }

    fn keys() -> [(String, String); 1] {
        [("spec.workers".to_owned(), "name".to_owned())]
    }

    fn base() -> Value {
        json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}})
    }

    #[expect(clippy::needless_pass_by_value, reason = "the tests write the value in place")]
    fn applied(live: &Value, spec: Value, by: &str) -> Value {
        let config = json!({"metadata": {"name": "x"}, "spec": spec});
        apply(live, &config, &keys(), &manager(by), false, "t").unwrap()
    }

    #[test]
    fn what_is_no_longer_applied_goes_unless_somebody_else_owns_it() {
        let live = applied(&base(), json!({"a": 1, "b": {"c": 2}, "shared": 3}), "one");
        let live = applied(&live, json!({"shared": 3}), "two");

        let live = applied(&live, json!({"a": 1}), "one");

        assert_eq!(live["spec"], json!({"a": 1, "shared": 3}));
    }

    #[test]
    fn a_conflict_names_the_owner_and_the_field_and_force_takes_it() {
        let live = applied(&base(), json!({"a": 1}), "one");
        let config = json!({"metadata": {"name": "x"}, "spec": {"a": 2}});

        let conflicts = apply(&live, &config, &[], &manager("two"), false, "t").unwrap_err();
        let forced = apply(&live, &config, &[], &manager("two"), true, "t").unwrap();

        assert_eq!(conflicts, [Conflict { owner: "\"one\"".into(), field: ".spec.a".into() }]);
        assert_eq!(forced["spec"]["a"], 2);
        assert_eq!(forced["metadata"]["managedFields"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn lists_are_owned_as_a_whole_but_finalizers_one_by_one() {
        let mut live = applied(&base(), json!({"list": [1, 2]}), "one");
        live["metadata"]["finalizers"] = json!(["theirs"]);
        let config = json!({"metadata": {"name": "x", "finalizers": ["mine"]}});

        let other = json!({"spec": {"list": [1]}});
        let conflict = apply(&live, &other, &[], &manager("two"), false, "t");
        let with = apply(&live, &config, &[], &manager("two"), false, "t").unwrap();
        let without = apply(&with, &base(), &[], &manager("two"), false, "t").unwrap();

        assert_eq!(conflict.unwrap_err()[0].field, ".spec.list");
        assert_eq!(with["metadata"]["finalizers"], json!(["theirs", "mine"]));
        assert_eq!(without["metadata"]["finalizers"], json!(["theirs"]));
    }

    #[test]
    fn applying_the_same_again_changes_nothing() {
        let once = applied(&base(), json!({"a": {"b": [1]}}), "one");

        let config = json!({"metadata": {"name": "x"}, "spec": {"a": {"b": [1]}}});
        let twice = apply(&once, &config, &[], &manager("one"), false, "later").unwrap();

        assert_eq!(once, twice);
    }

    #[test]
    fn items_with_a_key_are_changed_added_and_removed_one_by_one() {
        let both = json!({"workers": [{"name": "z", "max": 1, "min": 1}, {"name": "a", "max": 2}]});
        let mut live = applied(&base(), both, "one");
        live["spec"]["workers"][0]["default"] = json!(true);

        let grown = applied(&live, json!({"workers": [{"name": "z", "more": 5}]}), "two");
        let less = applied(&grown, json!({"workers": [{"name": "a", "max": 2}]}), "one");
        let alone = applied(&less, json!({}), "two");
        let none = applied(&alone, json!({}), "one");
        let config = json!({"spec": {"workers": [{"name": "a", "max": 3}]}});
        let conflict = apply(&live, &config, &keys(), &manager("two"), false, "t").unwrap_err();

        let names = |live: &Value| {
            let all = live["spec"]["workers"].as_array().cloned().unwrap_or_default();
            all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&grown), ["z", "a"], "in the order in which they were asked for");
        let worker = &grown["spec"]["workers"][0];
        assert_eq!(*worker, json!({"name": "z", "max": 1, "min": 1, "default": true, "more": 5}));
        let worker = &less["spec"]["workers"][0];
        assert_eq!(*worker, json!({"name": "z", "default": true, "more": 5}), "the other needs it");
        assert_eq!(names(&alone), ["a"], "nobody needs it any more");
        assert_eq!(names(&none), Vec::<String>::new());
        assert_eq!(conflict[0].field, ".spec.workers[name=\"a\"].max");
    }
}
