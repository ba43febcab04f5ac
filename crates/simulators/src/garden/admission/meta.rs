//! Keys and values of labels and annotations, and names, as Kubernetes checks them everywhere.

use cluster::Cause;
use serde_json::Value;

const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                    alphanumeric character";
const PREFIX: &str = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
                      or '.', and must start and end with an alphanumeric character";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
                     must start and end with an alphanumeric character";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                         and must start and end with an alphanumeric character";
/// What is said of a name that is none.
pub(super) const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
                                must start and end with an alphanumeric character";
/// How long the name in a key, and a value, may be.
const LONGEST: usize = 63;

/// What is wrong with a key such as `example.org/name`.
pub(super) fn key(key: &str) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    let mut parts = key.split('/');
    let (prefix, name) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) => (None, name),
        (Some(prefix), Some(name), None) => (Some(prefix), name),
        _ => return vec![NAME],
    };
    if prefix.is_some_and(|prefix| subdomain(prefix).is_some()) {
        wrong.push(PREFIX);
    }
    if name.is_empty() {
        wrong.push("name part must be non-empty");
    }
    if name.len() > LONGEST {
        wrong.push("name part must be no more than 63 bytes");
    }
    if !is_word(name) {
        wrong.push(NAME);
    }
    wrong
}

/// What is wrong with the value of a label.
pub(super) fn value(value: &str) -> Option<&'static str> {
    if value.len() > LONGEST {
        return Some("must be no more than 63 bytes");
    }
    (!value.is_empty() && !is_word(value)).then_some(VALUE)
}

/// What is wrong with the name of a domain.
pub(super) fn subdomain(name: &str) -> Option<&'static str> {
    let fits = name.len() <= 253 && name.split('.').all(is_label);
    (!fits).then_some(SUBDOMAIN)
}

/// Whether a name is one of lower case letters, digits and hyphens.
pub(super) fn is_label(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with('-') && !name.ends_with('-')
}

fn is_word(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let ends = |c: char| c.is_ascii_alphanumeric();
    word.chars().all(plain) && word.starts_with(ends) && word.ends_with(ends)
}

/// Names keys and values that cannot be those of labels.
pub(super) fn labels(labels: &Value, field: &str, causes: &mut Vec<Cause>) {
    for (name, written) in labels.as_object().into_iter().flatten() {
        causes.extend(key(name).into_iter().map(|why| Cause::invalid(field, name, why)));
        let written = written.as_str().unwrap_or_default();
        causes.extend(value(written).map(|why| Cause::invalid(field, written, why)));
    }
}

/// Names keys that cannot be those of annotations, whose prefixes may have capitals.
pub(super) fn annotations(annotations: &Value, field: &str, causes: &mut Vec<Cause>) {
    for (name, _) in annotations.as_object().into_iter().flatten() {
        let wrong = key(&name.to_lowercase());
        causes.extend(wrong.into_iter().map(|why| Cause::invalid(field, name, why)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_name_and_may_have_a_prefix() {
        for fine in ["a", "a.b_c", "example.org/x", "A", "a-b.c/d"] {
            assert!(key(fine).is_empty(), "{fine}");
        }
        for wrong in ["", "a b", "a/b/c", "/a", "a/", "-a", "A.b/c", "a_b/c"] {
            assert!(!key(wrong).is_empty(), "{wrong}");
        }
        assert_eq!((value(""), value("a.B-1")), (None, None));
        assert!(value("a b").is_some() && value("-a").is_some());
        assert!(subdomain("a-b.example.org").is_none());
        assert!(
            subdomain("").is_some() && subdomain("a_b").is_some() && subdomain("a..b").is_some()
        );
    }
}
