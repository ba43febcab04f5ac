//! Unknown fields: how each version of Gardener treats them.

use cluster::{Admission, FieldValidation, Status};
use serde_json::Value;

use crate::garden::schema::Form;

/// Drops unknown fields with a warning each, or refuses them all, as the request wants it.
pub(super) fn check(write: &mut Admission<'_>, form: &Form) -> Result<(), Status> {
    if write.subresource.is_some() || write.verb == cluster::Verb::Delete {
        return Ok(());
    }
    let mut unknown = Vec::new();
    form.prune(write.object, "", &mut unknown);
    form.normalise(write.object);
    if let Some(metadata) = write.object["metadata"].as_object_mut() {
        let is_empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            _ => false,
        };
        metadata.retain(|_, value| !is_empty(value));
    }
    let texts: Vec<String> =
        unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
    match write.field_validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => write.warnings.extend(texts),
        FieldValidation::Strict if texts.is_empty() => {}
        FieldValidation::Strict => {
            let (kind, version) = (&write.kind.kind, &write.kind.version);
            return Err(Status::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                texts.join(", ")
            )));
        }
    }
    Ok(())
}
