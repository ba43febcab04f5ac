//! The few things that Kubernetes fills in for its own kinds.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{Kind, object::name};

/// Fills them in.
pub(crate) fn complete(kind: &Kind, old: Option<&Value>, object: &mut Value) {
    match kind.resource().as_str() {
        "secrets" => secret(object),
        "namespaces" => {
            let label = json!(name(object));
            // Labels that are no object are refused later on.
            if matches!(object["metadata"]["labels"], Value::Object(_) | Value::Null) {
                object["metadata"]["labels"]["kubernetes.io/metadata.name"] = label;
            }
            if old.is_none() {
                object["spec"] = json!({"finalizers": ["kubernetes"]});
                object["status"] = json!({"phase": "Active"});
            }
        }
        _ => {}
    }
}

/// Moves `stringData` to `data`; a Secret without a type is opaque.
fn secret(object: &mut Value) {
    let Some(secret) = object.as_object_mut() else { return };
    if let Some(plain) = secret.shift_remove("stringData") {
        let data = secret.entry("data").or_insert(Value::Null);
        if !data.is_object() {
            *data = json!({});
        }
        for (key, value) in plain.as_object().into_iter().flatten() {
            data[key] = json!(STANDARD.encode(value.as_str().unwrap_or_default()));
        }
    }
    secret.entry("type").or_insert_with(|| json!("Opaque"));
}
