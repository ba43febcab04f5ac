//! Texts and lists of an order have limits, whatever they are for.

use serde_json::Value;

use super::{Refusal, Rule};

/// The longest text.
pub(super) const LONGEST_TEXT: usize = 1_024;
/// The most entries of a list.
pub(super) const MOST_ENTRIES: usize = 100;
/// The longest name.
pub(super) const LONGEST_NAME: usize = 255;

/// The parameter whose length only the size of the request limits.
const KUBECONFIG: &str = "kubeconfig";

/// Refuses texts and lists that are too long, and control characters.
pub(super) fn check(parameters: &Value) -> Result<(), Refusal> {
    let Some(fields) = parameters.as_object() else { return Ok(()) };
    fields
        .iter()
        .filter(|(name, _)| *name != KUBECONFIG)
        .try_for_each(|(name, value)| bounded(value, name, &format!("/{name}")))
}

fn bounded(value: &Value, field: &str, pointer: &str) -> Result<(), Refusal> {
    let refuse = |text: String| {
        let field: String = field.chars().take(64).collect();
        Err(Refusal::new(Rule::Bounds, pointer, format!("parameters.{field}: {text}")))
    };
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            refuse(format!("text must not be longer than {LONGEST_TEXT} bytes"))
        }
        Value::String(text) if text.chars().any(char::is_control) => {
            refuse("text must not have control characters".into())
        }
        Value::Array(entries) if entries.len() > MOST_ENTRIES => {
            refuse(format!("list must not have more than {MOST_ENTRIES} entries"))
        }
        Value::Array(entries) => entries.iter().enumerate().try_for_each(|(at, entry)| {
            bounded(entry, &format!("{field}.{at}"), &format!("{pointer}/{at}"))
        }),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            bounded(value, &format!("{field}.{name}"), &format!("{pointer}/{name}"))
        }),
        _ => Ok(()),
    }
}
