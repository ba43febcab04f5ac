//! The small part of `JSONPath` that printer columns and field selectors need.
//!
//! `.a.b`, `['a.b']`, `.a\.b`, `[0]` and `[?(@.key=="value")]`; anything else finds nothing.

use serde_json::Value;

/// The value at `path`, if there is one.
pub(crate) fn find<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut here = object;
    let mut rest =
        path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (content, after) = inner.split_once(']')?;
            here = index(here, content)?;
            rest = after;
        } else {
            let (name, after) = name(rest.strip_prefix('.').unwrap_or(rest));
            if !name.is_empty() {
                here = here.get(&name)?;
            }
            if after.len() == rest.len() {
                return None;
            }
            rest = after;
        }
    }
    Some(here)
}

fn index<'a>(here: &'a Value, content: &str) -> Option<&'a Value> {
    if let Some(condition) = content.strip_prefix("?(") {
        let (key, value) = condition.strip_suffix(')')?.split_once("==")?;
        let wanted = value.trim().trim_matches(['"', '\'']);
        let key = key.trim().strip_prefix('@')?;
        return here.as_array()?.iter().find(|item| {
            find(item, key).is_some_and(|found| match found {
                Value::String(found) => found == wanted,
                other => other.to_string().as_str() == wanted,
            })
        });
    }
    match content.parse::<usize>() {
        Ok(position) => here.get(position),
        Err(_) => here.get(content.trim_matches(['"', '\''])),
    }
}

/// The name at the start, with `\.` as a plain dot, and what follows it.
fn name(path: &str) -> (String, &str) {
    let mut name = String::new();
    let mut escaped = false;
    for (at, c) in path.char_indices() {
        match c {
            '\\' if !escaped => escaped = true,
            '.' | '[' if !escaped => return (name, &path[at..]),
            c => {
                escaped = false;
                name.push(c);
            }
        }
    }
    (name, "")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_forms_that_columns_use_are_found() {
        let object = json!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "A", "status": "1"}, {"type": "Ready", "status": "2"}]},
        });

        for (path, value) in [
            (r".metadata.labels.a\.b/c", "x"),
            (".metadata.labels['a']", ""),
            (".status.conditions[0].status", "1"),
            (r#".status.conditions[?(@.type=="Ready")].status"#, "2"),
            (".status.conditions[7].status", ""),
        ] {
            let found = find(&object, path).and_then(Value::as_str).unwrap_or_default();
            assert_eq!(found, value, "{path}");
        }
    }
}
