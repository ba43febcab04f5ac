//! Which objects of a list or a watch are meant: label and field selectors.

use serde_json::Value;

use crate::{Status, object::text, path};

/// Everything a list can be narrowed by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<(String, bool, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    /// Also true for objects without the label, as in Kubernetes.
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
}

impl Selector {
    /// Reads `labelSelector` and `fieldSelector`.
    pub(crate) fn parse(labels: Option<&str>, fields: Option<&str>) -> Result<Self, Status> {
        let labels =
            split(labels.unwrap_or_default()).map(requirement).collect::<Result<_, _>>()?;
        let fields = split(fields.unwrap_or_default()).map(field).collect::<Result<_, _>>()?;
        Ok(Self { labels, fields })
    }

    /// Whether the object is meant.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.labels.iter().all(|requirement| requirement.holds(object))
            && self.fields.iter().all(|(path, wanted, value)| {
                let found = path::find(object, &format!(".{path}"));
                (found.map(plain).unwrap_or_default() == *value) == *wanted
            })
    }
}

impl Requirement {
    fn holds(&self, object: &Value) -> bool {
        let label = |key: &String| text(object, &["metadata", "labels", key]);
        match self {
            Self::In(key, values) => label(key).is_some_and(|v| values.iter().any(|x| x == v)),
            Self::NotIn(key, values) => !label(key).is_some_and(|v| values.iter().any(|x| x == v)),
            Self::Exists(key) => label(key).is_some(),
            Self::Missing(key) => label(key).is_none(),
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Splits at commas that are not inside of parentheses.
fn split(selector: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    selector
        .split(move |c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        })
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn requirement(part: &str) -> Result<Requirement, Status> {
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Requirement::Missing(key_of(key, part)?));
    }
    if let Some((key, value)) = part.split_once("!=") {
        return Ok(Requirement::NotIn(key_of(key, part)?, vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Requirement::In(key_of(key, part)?, vec![value.trim().to_owned()]));
    }
    let Some((left, values)) = part.split_once('(') else {
        return Ok(Requirement::Exists(key_of(part, part)?));
    };
    let values = values.trim_end().trim_end_matches(')').split(',');
    let values = values.map(|value| value.trim().to_owned()).collect();
    match left.trim().rsplit_once(char::is_whitespace) {
        Some((key, "in")) => Ok(Requirement::In(key_of(key, part)?, values)),
        Some((key, "notin")) => Ok(Requirement::NotIn(key_of(key, part)?, values)),
        _ => Err(unreadable(part)),
    }
}

fn key_of(key: &str, part: &str) -> Result<String, Status> {
    let key = key.trim();
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if key.is_empty() || !key.chars().all(fine) {
        return Err(unreadable(part));
    }
    Ok(key.to_owned())
}

fn field(part: &str) -> Result<(String, bool, String), Status> {
    let (path, wanted, value) = if let Some((path, value)) = part.split_once("!=") {
        (path, false, value)
    } else if let Some((path, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (path, true, value)
    } else {
        return Err(Status::bad_request(format!("invalid field selector: {part:?}")));
    };
    Ok((path.trim().to_owned(), wanted, value.trim().to_owned()))
}

fn unreadable(part: &str) -> Status {
    Status::bad_request(format!("unable to parse requirement: {part:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(labels: &str) -> bool {
        let object =
            json!({"metadata": {"name": "b1", "labels": {"type": "aws", "dirty": "true"}}});
        Selector::parse(Some(labels), None).unwrap().matches(&object)
    }

    #[test]
    fn every_form_of_requirement_is_understood() {
        for holds in [
            "type=aws",
            "type==aws",
            "type!=gcp",
            "type",
            "!free",
            "type in (gcp, aws)",
            "type notin (gcp),dirty",
            "type=aws, dirty=true",
            "",
        ] {
            assert!(matches(holds), "{holds}");
        }
        for fails in ["type=gcp", "type!=aws", "!dirty", "free", "type in (gcp)", "free in (x)"] {
            assert!(!matches(fails), "{fails}");
        }
    }

    #[test]
    fn a_requirement_that_is_not_met_by_absence_is_met_by_absence_when_negated() {
        assert!(matches("shared!=true"));
        assert!(matches("shared notin (true)"));
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(Selector::parse(Some("a b c"), None).unwrap_err().code, 400);
        assert_eq!(Selector::parse(None, Some("metadata.name")).unwrap_err().code, 400);
    }

    #[test]
    fn fields_are_compared_as_text() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"replicas": 3}});
        let yes = Selector::parse(None, Some("metadata.name=a,spec.replicas=3")).unwrap();
        let no = Selector::parse(None, Some("metadata.name!=a")).unwrap();

        assert!(yes.matches(&object));
        assert!(!no.matches(&object));
    }
}
