//! Checks parameters with a published schema, and says what is wrong in the words that clients know.

use std::sync::LazyLock;

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Map, Value};

use super::{Refusal, Rule, bounds::LONGEST_NAME, nearest::nearest};

/// The most that is said about one order.
const MOST: usize = 20;

/// Refuses parameters that the schema does not allow; `doing` opens the description.
pub(super) fn validate(schema: &Value, parameters: &Value, doing: &str) -> Result<(), Refusal> {
    let validator = jsonschema::draft4::new(schema)
        .map_err(|error| Refusal::new(Rule::Schema, "", format!("{doing}: {error}")))?;
    let found = validator.iter_errors(parameters);
    let violations: Vec<(String, String)> =
        found.flat_map(|error| violations(&error, schema)).take(MOST).collect();
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
fn violations(error: &ValidationError<'_>, schema: &Value) -> Vec<(String, String)> {
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
            let text = |name: &str| {
                let known = properties(schema, error.instance_path().as_str());
                let meant = nearest(name, known.keys().map(String::as_str));
                let meant = meant.map_or_else(String::new, |it| format!(", did you mean {it}?"));
                let name: String = name.chars().take(LONGEST_NAME).collect();
                format!("Additional property {name} is not allowed{meant}")
            };
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
        ValidationErrorKind::MaxLength { limit } => {
            format!("String length must be less than or equal to {limit}")
        }
        ValidationErrorKind::MaxItems { limit } => {
            format!("Array must have at most {limit} items")
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

/// The properties that a schema names for what the pointer leads to; objects in objects only.
fn properties<'a>(schema: &'a Value, pointer: &str) -> &'a Map<String, Value> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    let inner = pointer.split('/').skip(1).try_fold(schema, |schema, name| {
        schema.get("properties").and_then(|properties| properties.get(name))
    });
    let properties = inner.and_then(|schema| schema.get("properties"));
    properties.and_then(Value::as_object).unwrap_or(&NONE)
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
