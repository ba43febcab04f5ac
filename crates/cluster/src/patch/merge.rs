//! JSON merge patch (RFC 7386): objects are merged, null removes, anything else replaces.

use serde_json::{Value, json};

/// Merges `patch` into `target`.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    if let Some(target) = target.as_object_mut() {
        for (key, value) in patch {
            if value.is_null() {
                target.shift_remove(key);
            } else {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_merge_nulls_remove_and_lists_are_replaced() {
        let mut target = json!({"a": {"x": 1, "y": 2}, "list": [1, 2], "gone": true});

        merge(
            &mut target,
            &json!({"a": {"y": null, "z": {"n": null, "k": 3}}, "list": [3], "gone": null}),
        );

        assert_eq!(target, json!({"a": {"x": 1, "z": {"k": 3}}, "list": [3]}));
    }
}
