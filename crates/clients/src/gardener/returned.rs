//! Whether Gardener kept what it was sent.
//!
//! What a reader would get wrong: values are not compared. Gardener completes versions and normalises durations; what
//! matters is that no field is missing in its answer.

use serde_json::Value;

/// Fields that Gardener may answer under another name.
const ALIASES: [(&str, &str); 3] = [
    ("cloudProfileName", "cloudProfile"),
    ("secretBindingName", "credentialsBindingName"),
    ("oidcConfig", "structuredAuthentication"),
];
/// Fields that newer Gardeners do not store when they are `false`, which is what they take for granted.
const TAKEN_FOR_GRANTED: [&str; 1] = ["enableStaticTokenKubeconfig"];
/// Fields of the provider's extension, which may rewrite them.
const OPAQUE: [&str; 3] = ["providerConfig", "infrastructureConfig", "controlPlaneConfig"];

/// The fields of `sent` that are not in `answered`, by their paths under `path`.
pub(super) fn missing(sent: &Value, answered: &Value, path: &str) -> Vec<String> {
    let mut missing = Vec::new();
    compare(sent, answered, path, &mut missing);
    missing
}

fn compare(sent: &Value, answered: &Value, path: &str, missing: &mut Vec<String>) {
    match sent {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(_, value)| !is_empty(value)) {
                let path = format!("{path}.{key}");
                match answered.get(key).filter(|found| !found.is_null()) {
                    Some(found) if !OPAQUE.contains(&key.as_str()) => {
                        compare(value, found, &path, missing);
                    }
                    Some(_) => {}
                    None if other_name(key).is_some_and(|name| !answered[name].is_null()) => {}
                    None if is_granted(key, value) => {}
                    None => missing.push(path),
                }
            }
        }
        Value::Array(items) => {
            let none = Vec::new();
            let found = answered.as_array().unwrap_or(&none);
            for (place, item) in items.iter().enumerate() {
                let same = ["name", "type"].into_iter().find_map(|key| {
                    let word = item.get(key)?;
                    found.iter().find(|one| one.get(key) == Some(word))
                });
                let path = format!("{path}[{place}]");
                match same.or_else(|| found.get(place)) {
                    Some(found) => compare(item, found, &path, missing),
                    None => missing.push(path),
                }
            }
        }
        _ => {}
    }
}

/// Whether Gardener leaves this value out of its responses.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_granted(key: &str, value: &Value) -> bool {
    TAKEN_FOR_GRANTED.contains(&key) && value.as_bool() == Some(false)
}

fn other_name(key: &str) -> Option<&'static str> {
    ALIASES.into_iter().find_map(|(old, new)| match key {
        key if key == old => Some(new),
        key if key == new => Some(old),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_left_out_is_named_and_what_was_completed_is_not() {
        let sent = json!({
            "kubernetes": {"version": "1.32", "foo": false, "eventTTL": "1h"},
            "labels": {}, "zones": [], "text": "",
            "cloudProfileName": "aws",
            "provider": {
                "infrastructureConfig": {"a": 1},
                "workers": [{"name": "a", "bar": 1}, {"name": "b", "maximum": 2}],
            },
        });
        let answered = json!({
            "kubernetes": {"version": "1.32.4", "eventTTL": "1h0m0s"},
            "cloudProfile": {"kind": "CloudProfile", "name": "aws"},
            "provider": {
                "infrastructureConfig": {"b": 1},
                "workers": [{"name": "b", "maximum": 2}, {"name": "a"}],
            },
        });

        let missing = missing(&sent, &answered, "spec");

        assert_eq!(missing, ["spec.kubernetes.foo", "spec.provider.workers[0].bar"]);
        assert!(super::missing(&sent, &sent, "spec").is_empty());
        let static_token = |wanted: bool| json!({"enableStaticTokenKubeconfig": wanted});
        assert!(super::missing(&static_token(false), &json!({}), "spec").is_empty());
        assert_eq!(super::missing(&static_token(true), &json!({}), "spec").len(), 1);
    }
}
