//! Registrations that the Director refuses, and its label filters.

use serde_json::{Map, Value};

use super::error::Refusal;

const LONGEST_NAME: usize = 36;
const LONGEST_DESCRIPTION: usize = 2_000;

/// Checks what a caller wants to register or change.
pub(super) fn check(
    input: &'static str,
    name: &str,
    description: Option<&str>,
    labels: Option<&Map<String, Value>>,
) -> Result<(), Refusal> {
    let invalid =
        |field: &str, problem| Err(Refusal::InvalidData { input, field: field.into(), problem });
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if name.is_empty() {
        return invalid("name", "cannot be blank");
    }
    if name.len() > LONGEST_NAME {
        return invalid("name", "must be no more than 36 characters");
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return invalid("name", "cannot start with digit");
    }
    if !name.chars().all(letters) || !name.starts_with(ends) || !name.ends_with(ends) {
        return invalid("name", "must be lower-case letters, digits, '-' and '.'");
    }
    if description.is_some_and(|text| text.chars().count() > LONGEST_DESCRIPTION) {
        return invalid("description", "must be no more than 2000 characters");
    }
    for key in labels.into_iter().flat_map(Map::keys) {
        check_key(input, key)?;
    }
    Ok(())
}

/// Checks the key of a label.
pub(super) fn check_key(input: &'static str, key: &str) -> Result<(), Refusal> {
    let fits = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fits {
        return Ok(());
    }
    let problem = "must be letters, digits and '_'";
    Err(Refusal::InvalidData { input, field: format!("labels.{key}"), problem })
}

/// Whether labels fit one filter. A query is a JSON value that the label equals, or
/// `$[*] ? (@ == "value")` for lists that hold it; without one, having the label is enough.
pub(super) fn fits(
    labels: &Map<String, Value>,
    key: &str,
    query: Option<&str>,
) -> Result<bool, Refusal> {
    let Some(query) = query else { return Ok(labels.contains_key(key)) };
    let element = query
        .trim()
        .strip_prefix("$[*]")
        .and_then(|rest| rest.trim().strip_prefix('?'))
        .and_then(|rest| rest.trim().strip_prefix('('))
        .and_then(|rest| rest.trim().strip_suffix(')'))
        .and_then(|rest| rest.trim().strip_prefix('@'))
        .and_then(|rest| rest.trim().strip_prefix("=="));
    let wanted: Value = serde_json::from_str(element.unwrap_or(query)).map_err(|_| {
        let problem = "is neither JSON nor a known path";
        Refusal::InvalidData { input: "LabelFilter", field: "query".into(), problem }
    })?;
    let label = labels.get(key);
    Ok(match element {
        Some(_) => label.and_then(Value::as_array).is_some_and(|list| list.contains(&wanted)),
        None => label == Some(&wanted),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_short_lower_case_and_do_not_start_with_a_digit() {
        for good in ["a", "my-runtime.1", &"a".repeat(36)] {
            assert!(check("RuntimeRegisterInput", good, None, None).is_ok(), "{good}");
        }
        for bad in ["", "1a", "A", "a_b", "-a", "a-", "ä", "a b", &"a".repeat(37)] {
            assert!(check("RuntimeRegisterInput", bad, None, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_compare_json_values_and_look_into_lists() {
        let labels = json!({ "broker_instance_id": "a\"b", "scenarios": ["DEFAULT"] });
        let labels = labels.as_object().unwrap();
        let fits = |key, query| fits(labels, key, query).unwrap();

        assert!(fits("broker_instance_id", Some("\"a\\\"b\"")));
        assert!(!fits("broker_instance_id", Some("\"other\"")));
        assert!(fits("scenarios", Some("$[*] ? (@ == \"DEFAULT\")")));
        assert!(!fits("scenarios", Some("$[*] ? (@ == \"OTHER\")")));
        assert!(fits("scenarios", None) && !fits("absent", None));
        assert!(super::fits(labels, "scenarios", Some("DEFAULT")).is_err());
    }
}
