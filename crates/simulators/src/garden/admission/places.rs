//! Fields of a Shoot by a path in which `*` is every item of a list.

use serde_json::Value;

/// What stands at a path such as `/spec/provider/workers/*/name`, with the names of the fields as Gardener writes them:
/// `spec.provider.workers[0].name`. What is not set is left out.
pub(super) fn places<'a>(object: &'a Value, path: &str) -> Vec<(String, &'a Value)> {
    let mut found = vec![(String::new(), object)];
    for step in path.trim_start_matches('/').split('/') {
        found = found.into_iter().flat_map(|(field, value)| inside(&field, value, step)).collect();
    }
    found.retain(|(_, value)| !value.is_null());
    found
}

fn inside<'a>(field: &str, value: &'a Value, step: &str) -> Vec<(String, &'a Value)> {
    if step == "*" {
        let items = value.as_array().into_iter().flatten().enumerate();
        return items.map(|(place, item)| (format!("{field}[{place}]"), item)).collect();
    }
    let dot = if field.is_empty() { "" } else { "." };
    let there = value.get(step).map(|value| (format!("{field}{dot}{step}"), value));
    there.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_item_of_a_list_is_named_by_its_place() {
        let object = json!({"a": [{"b": 1}, {"c": 2}, {"b": 3}], "d": null});

        assert_eq!(
            places(&object, "/a/*/b"),
            [("a[0].b".to_owned(), &json!(1)), ("a[2].b".to_owned(), &json!(3))]
        );
        assert!(places(&object, "/d").is_empty());
    }
}
