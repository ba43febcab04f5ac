//! Editing JSON in place, and telling what an edit has changed.

use serde_json::{Map, Value};

/// The place at `path`; objects on the way are made when they are missing.
pub(super) fn at<'a>(mut value: &'a mut Value, path: &[&str]) -> &'a mut Value {
    for step in path {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        value = &mut value[*step];
    }
    value
}

/// The merge patch that turns `before` into `after`; nothing when they are the same. Lists are rewritten
/// whole: a merge patch knows no other way.
pub(super) fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return Some(after.clone());
    };
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let mut patch: Map<String, Value> = gone.map(|key| (key.clone(), Value::Null)).collect();
    for (key, now) in after {
        match before.get(key) {
            Some(was) => patch.extend(difference(was, now).map(|part| (key.clone(), part))),
            None => patch.extend([(key.clone(), now.clone())]),
        }
    }
    Some(Value::Object(patch))
}
