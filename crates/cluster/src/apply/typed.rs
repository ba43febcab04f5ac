//! Declarations of a kind with types of its own.

use serde_json::Value;

/// The first field of an object that its schema does not have, such as `.spec.foo`.
pub(crate) fn undeclared(schema: &Value, object: &Value) -> Option<String> {
    let mut path = String::new();
    find(schema, object, &mut path).then_some(path)
}

/// Whether there is one; `path` then leads to it.
fn find(schema: &Value, value: &Value, path: &mut String) -> bool {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return false;
    }
    let so_far = path.len();
    let mut look = |step: String, schema: Option<&Value>, value: &Value| {
        path.truncate(so_far);
        path.push_str(&step);
        schema.is_none_or(|schema| find(schema, value, path))
    };
    match (value, schema["properties"].as_object()) {
        (Value::Object(values), Some(declared)) => {
            let mut values = values.iter();
            values.any(|(key, value)| look(format!(".{key}"), declared.get(key), value))
        }
        (Value::Array(items), _) if schema["items"].is_object() => {
            let mut items = items.iter().enumerate();
            items.any(|(place, item)| look(format!("[{place}]"), schema.get("items"), item))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_field_that_is_not_declared_is_named() {
        let worker = json!({"properties": {"name": {"type": "string"}}});
        let schema = json!({"properties": {
            "metadata": {"x-kubernetes-preserve-unknown-fields": true},
            "labels": {"type": "object", "additionalProperties": {}},
            "workers": {"type": "array", "items": worker},
        }});
        let with = |worker: Value| json!({"metadata": {"a": {"b": 1}}, "labels": {"c": "d"}, "workers": [{"name": "x"}, worker]});

        assert_eq!(undeclared(&schema, &with(json!({"name": "y"}))), None);
        let found = undeclared(&schema, &with(json!({"foo": 1})));
        assert_eq!(found.as_deref(), Some(".workers[1].foo"));
    }
}
