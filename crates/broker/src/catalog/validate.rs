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
        validator.iter_errors(parameters).flat_map(|error| violations(&error)).collect();
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

/// The fields' JSON pointers, each with its text.
fn violations(error: &ValidationError<'_>) -> Vec<(String, String)> {
    let pointer = error.instance_path().as_str().to_owned();
    let field = match pointer.trim_start_matches('/') {
        "" => "(root)".to_owned(),
        path => path.replace('/', "."),
    };
    let below = |name: &str, text: String| {
        let name = name.replace('~', "~0").replace('/', "~1");
        (format!("{pointer}/{name}"), format!("{field}: {text}"))
    };
    let text = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            return vec![below(name, format!("{name} is required"))];
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let text = |name: &str| format!("Additional property {name} is not allowed");
            return unexpected.iter().map(|name| below(name, text(name))).collect();
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
    let text = format!("{field}: {text}");
    vec![(pointer, text)]
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
