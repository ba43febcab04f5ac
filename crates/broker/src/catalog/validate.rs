//! Checks parameters with a published schema, and says what is wrong in the words that clients know.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{Refusal, Rule};

/// Refuses parameters that the schema does not allow; `doing` opens the description.
pub(super) fn validate(schema: &Value, parameters: &Value, doing: &str) -> Result<(), Refusal> {
    let validator = jsonschema::draft4::new(schema)
        .map_err(|error| Refusal::new(Rule::Schema, "", format!("{doing}: {error}")))?;
    let violations: Vec<(String, String)> =
        validator.iter_errors(parameters).map(|error| violation(&error)).collect();
    if violations.is_empty() {
        return Ok(());
    }
    let (fields, texts): (Vec<String>, Vec<String>) = violations.into_iter().unzip();
    Err(Refusal {
        rule: Rule::Schema,
        fields,
        description: format!("{doing}: {}", texts.join(", ")),
    })
}

/// The field's JSON pointer, and the text.
fn violation(error: &ValidationError<'_>) -> (String, String) {
    let pointer = error.instance_path().as_str().to_owned();
    let field = match pointer.trim_start_matches('/') {
        "" => "(root)".to_owned(),
        path => path.replace('/', "."),
    };
    let text = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            return (format!("{pointer}/{property}"), format!("{field}: {property} is required"));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let first = unexpected.first().map_or("", String::as_str);
            let text = format!("{field}: Additional property {first} is not allowed");
            return (format!("{pointer}/{first}"), text);
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten().map(Value::to_string);
            let options = options.collect::<Vec<_>>().join(", ");
            format!("{field} must be one of the following: {options}")
        }
        ValidationErrorKind::Minimum { limit } => {
            format!("Must be greater than or equal to {limit}")
        }
        ValidationErrorKind::Maximum { limit } => format!("Must be less than or equal to {limit}"),
        ValidationErrorKind::MinLength { limit } => {
            format!("String length must be greater than or equal to {limit}")
        }
        ValidationErrorKind::Pattern { pattern } => format!("Does not match pattern '{pattern}'"),
        ValidationErrorKind::Type { kind: TypeKind::Single(expected) } => {
            format!("Invalid type. Expected: {expected}, given: {}", kind_of(error.instance()))
        }
        // The library's own words would repeat the value, and a value may be a secret.
        other => format!("breaks the rule {}", other.keyword()),
    };
    (pointer, format!("{field}: {text}"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
