//! Objects as JSON: reading their metadata, and the rules that hold for all of them.

use serde_json::{Map, Value, json};

use crate::{
    Kind,
    kind::Names,
    status::{Cause, Status},
};

/// The text at a path of keys.
pub(crate) fn text<'a>(object: &'a Value, keys: &[&str]) -> Option<&'a str> {
    keys.iter().try_fold(object, |here, key| here.get(*key))?.as_str()
}

/// `metadata.name`, or nothing.
pub(crate) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"]).unwrap_or_default()
}

/// `metadata.namespace`, or nothing.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"]).unwrap_or_default()
}

/// `metadata.resourceVersion`, or nothing.
pub(crate) fn version(object: &Value) -> &str {
    text(object, &["metadata", "resourceVersion"]).unwrap_or_default()
}

/// Whether the object is on its way out.
pub(crate) fn is_deleting(object: &Value) -> bool {
    text(object, &["metadata", "deletionTimestamp"]).is_some()
}

/// Whether anybody still has to let go of it.
pub(crate) fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|list| !list.is_empty())
}

/// The map, or an error if it is something else.
pub(crate) fn map_mut(object: &mut Value) -> Result<&mut Map<String, Value>, Status> {
    object.as_object_mut().ok_or_else(|| Status::bad_request("the body is not an object"))
}

/// `metadata`, made if it is missing.
pub(crate) fn metadata_mut(object: &mut Value) -> Result<&mut Map<String, Value>, Status> {
    let metadata = map_mut(object)?.entry("metadata").or_insert_with(|| json!({}));
    if metadata.is_null() {
        *metadata = json!({});
    }
    metadata.as_object_mut().ok_or_else(|| Status::bad_request("metadata is not an object"))
}

/// Takes the value of `key` from `from`, or removes it where `from` has none.
pub(crate) fn carry_over(key: &str, from: Option<&Value>, to: &mut Map<String, Value>) {
    match from.and_then(|from| from.get(key)) {
        Some(value) => _ = to.insert(key.to_owned(), value.clone()),
        None => _ = to.shift_remove(key),
    }
}

/// Checks the rules that hold for objects of every kind.
pub(crate) fn validate(kind: &Kind, object: &Value) -> Result<(), Status> {
    let mut causes = Vec::new();
    if let Some(why) = wrong_with_name(kind.names, name(object)) {
        causes.push(Cause::invalid("metadata.name", name(object), why));
    }
    if let Some(labels) = object["metadata"].get("labels").filter(|labels| !labels.is_null()) {
        match labels.as_object() {
            Some(labels) => labels.iter().filter_map(wrong_with_label).for_each(|c| causes.push(c)),
            None => return Err(Status::bad_request("metadata.labels is not an object")),
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(Status::invalid(kind, name(object), &causes)) }
}

fn wrong_with_name(rule: Names, name: &str) -> Option<&'static str> {
    let word = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let fine = match rule {
        Names::Subdomain => name.len() <= 253 && name.split('.').all(word),
        Names::Label => name.len() <= 63 && word(name),
        Names::PathSegment => {
            !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%'])
        }
    };
    (!fine).then_some(match rule {
        Names::Subdomain => {
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character"
        }
        Names::Label => {
            "a lowercase RFC 1123 label must consist of at most 63 lower case alphanumeric \
             characters or '-', and must start and end with an alphanumeric character"
        }
        Names::PathSegment => "may not be '.', '..' or contain '/' or '%'",
    })
}

fn wrong_with_label((key, value): (&String, &Value)) -> Option<Cause> {
    let word = |part: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.len() <= 63
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            && edge(part.chars().next())
            && edge(part.chars().next_back())
    };
    let (prefix, local) = key.rsplit_once('/').unwrap_or(("x", key));
    if !word(local) || wrong_with_name(Names::Subdomain, prefix).is_some() {
        return Some(Cause::invalid("metadata.labels", key, "is not a label name"));
    }
    match value.as_str() {
        Some("") => None,
        Some(text) if word(text) => None,
        Some(text) => Some(Cause::invalid("metadata.labels", text, "is not a label value")),
        None => Some(Cause::invalid("metadata.labels", &value.to_string(), "must be text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_that_break_the_rules_are_all_named() {
        let kind = Kind::new("", "v1", "configmaps", "ConfigMap");
        let object =
            json!({"metadata": {"name": "Not_Good", "labels": {"ok": "-no-", "a/b": "fine"}}});

        let refusal = validate(&kind, &object).unwrap_err();

        assert_eq!((refusal.code, refusal.reason), (422, "Invalid"));
        assert_eq!(refusal.body()["details"]["causes"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn names_of_roles_may_have_colons() {
        assert_eq!(wrong_with_name(Names::PathSegment, "system:admin"), None);
        assert!(wrong_with_name(Names::Subdomain, "system:admin").is_some());
    }
}
