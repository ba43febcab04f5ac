//! Values of the wrong type, which Gardener does not even read: 400.

use cluster::{Admission, Status, Verb};
use serde_json::Value;

use super::duration;
use crate::garden::{quantity::thousandths, schema::Form};

/// Refuses an object with a value that its field cannot hold.
pub(super) fn check(write: &mut Admission<'_>, form: &Form) -> Result<(), Status> {
    if write.subresource.is_some() || write.verb == Verb::Delete {
        return Ok(());
    }
    let metadata = &write.object["metadata"];
    let mut labels = ["labels", "annotations"].into_iter();
    let (kind, version) = (&write.kind.kind, &write.kind.version);
    let own = labels
        .find_map(|key| mistyped(&Form::Texts, &metadata[key], &format!("{kind}.metadata.{key}")));
    let Some(why) = own.or_else(|| mistyped(form, write.object, kind)) else { return Ok(()) };
    Err(Status::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: json: {why}"
    )))
}

/// The first value that its field cannot hold, as Go says it.
pub(super) fn mistyped(form: &Form, value: &Value, path: &str) -> Option<String> {
    let wrong = |wanted: &str| Some(refused(value, path, wanted));
    match (form, value) {
        (_, Value::Null) | (Form::Any, _) | (Form::Quantity, Value::Number(_)) => None,
        (Form::Text, value) => {
            if value.is_string() {
                None
            } else {
                wrong("string")
            }
        }
        (Form::Duration, value) => match value.as_str() {
            Some(written) if duration::nanoseconds(written).is_some() => None,
            Some(written) => Some(format!("time: invalid duration {written:?}")),
            None => wrong("string"),
        },
        (Form::Boolean, value) => {
            if value.is_boolean() {
                None
            } else {
                wrong("bool")
            }
        }
        (Form::Integer, value) => {
            let fits = value.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
            if fits { None } else { wrong("int32") }
        }
        (Form::Number, value) => {
            if value.is_number() {
                None
            } else {
                wrong("float64")
            }
        }
        (Form::IntegerOrText, value) => {
            let fits = value.is_string() || value.is_i64();
            if fits { None } else { wrong("intstr.IntOrString") }
        }
        (Form::Quantity, value) => {
            let written = value.as_str().unwrap_or_default();
            let fits = thousandths(written.strip_prefix(['-', '+']).unwrap_or(written)).is_some();
            (!fits).then(|| {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                    .to_owned()
            })
        }
        (Form::Map | Form::Texts | Form::Flags | Form::Quantities, Value::Object(values)) => {
            values.values().find_map(|value| match form {
                Form::Texts => mistyped(&Form::Text, value, path),
                Form::Flags => mistyped(&Form::Boolean, value, path),
                Form::Quantities => mistyped(&Form::Quantity, value, path),
                _ => None,
            })
        }
        (Form::Map | Form::Texts | Form::Flags | Form::Quantities, _) => wrong("map"),
        (Form::List(items), Value::Array(values)) => {
            values.iter().find_map(|value| mistyped(items, value, path))
        }
        (Form::List(_), _) => wrong("list"),
        (Form::Object(fields), Value::Object(values)) => values.iter().find_map(|(key, value)| {
            let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            mistyped(fields.get(key)?, value, &at)
        }),
        (Form::Object(_), _) => wrong("struct"),
    }
}

fn refused(value: &Value, path: &str, wanted: &str) -> String {
    let found = match value {
        Value::Number(number) if wanted == "int32" => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Array(_) => "array".to_owned(),
        _ => "object".to_owned(),
    };
    format!("cannot unmarshal {found} into Go struct field {path} of type {wanted}")
}
