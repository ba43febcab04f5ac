//! Strategic merge patch for Kubernetes' own kinds: a merge patch that knows which lists have keys.
//!
//! Which list is merged by which key is a short table instead of Kubernetes' type definitions, so a
//! list that is missing here is replaced as a whole. `$patch`, `$retainKeys` and
//! `$deleteFromPrimitiveList` are understood; `$setElementOrder` is not needed and left aside.

use serde_json::{Map, Value, json};

use crate::kind::{MergeKeys as Keys, below};

/// Lists that are merged by the first of these keys that an element has.
const KEYED: &[(&str, &[&str])] = &[
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("env", &["name"]),
    ("imagePullSecrets", &["name"]),
    ("secrets", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("ports", &["containerPort", "port"]),
    ("hostAliases", &["ip"]),
    ("conditions", &["type"]),
    ("addresses", &["type"]),
    ("ownerReferences", &["uid"]),
];

/// Merges `patch` into `target`; `own` are the keyed lists of a kind that is not one of Kubernetes' own.
pub(crate) fn strategic(target: &mut Value, patch: &Value, own: &Keys) {
    merge(target, patch, own, "");
}

/// The same for what is at `path`: what somebody's extension keeps there may have lists of the same names.
fn merge(target: &mut Value, patch: &Value, own: &Keys, path: &str) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if patch.get("$patch").is_some_and(|how| how == "replace") {
        let mut whole = patch.clone();
        whole.shift_remove("$patch");
        *target = Value::Object(whole);
        return;
    }
    if !target.is_object() {
        *target = json!({});
    }
    if let Some(target) = target.as_object_mut() {
        merge_maps(target, patch, own, path);
    }
}

fn merge_maps(target: &mut Map<String, Value>, patch: &Map<String, Value>, own: &Keys, path: &str) {
    if let Some(kept) = patch.get("$retainKeys").and_then(Value::as_array) {
        target.retain(|key, _| kept.iter().any(|k| k == key));
    }
    for (key, value) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            if let (Some(Value::Array(list)), Some(gone)) = (target.get_mut(list), value.as_array())
            {
                list.retain(|item| !gone.contains(item));
            }
        } else if key.starts_with('$') {
            // Order of elements and kept keys, dealt with or not needed.
        } else if value.is_null() {
            target.shift_remove(key);
        } else {
            let here = target.entry(key).or_insert(Value::Null);
            let path = below(path, key);
            match (keys_of(&path, key, own), value.as_array()) {
                (Some(keys), Some(items)) => merge_lists(here, items, &keys, own, &path),
                _ if path == "metadata.finalizers" => add_to_set(here, value),
                _ => merge(here, value, own, &path),
            }
        }
    }
}

/// The keys of the list at `path`, which is called `list`. A kind with lists of its own has no others.
fn keys_of<'a>(path: &str, list: &str, own: &'a Keys) -> Option<Vec<&'a str>> {
    if own.is_empty() {
        return KEYED.iter().find(|(name, _)| *name == list).map(|(_, keys)| keys.to_vec());
    }
    if path == "metadata.ownerReferences" {
        return Some(vec!["uid"]);
    }
    own.iter().find(|(whole, _)| whole == path).map(|(_, key)| vec![key.as_str()])
}

fn merge_lists(target: &mut Value, patch: &[Value], keys: &[&str], own: &Keys, path: &str) {
    let mut list = target.as_array().cloned().unwrap_or_default();
    if patch.iter().any(|item| item["$patch"] == "replace") {
        list.clear();
    }
    for item in patch {
        let position = keys.iter().find_map(|key| {
            let wanted = item.get(*key)?;
            list.iter().position(|have| have.get(*key) == Some(wanted))
        });
        match (position, item["$patch"].as_str()) {
            (_, Some("replace")) | (None, Some("delete")) => {}
            (Some(position), Some("delete")) => _ = list.remove(position),
            (Some(position), _) => merge(&mut list[position], item, own, path),
            (None, _) => {
                let mut new = json!({});
                merge(&mut new, item, own, path);
                list.push(if item.is_object() { new } else { item.clone() });
            }
        }
    }
    *target = Value::Array(list);
}

fn add_to_set(target: &mut Value, patch: &Value) {
    let mut list = target.as_array().cloned().unwrap_or_default();
    for item in patch.as_array().into_iter().flatten() {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
    *target = Value::Array(list);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_merged_by_name_and_removed_on_request() {
        let mut target = json!({"spec": {"containers": [
            {"name": "a", "image": "a:1", "args": ["x"]},
            {"name": "b", "image": "b:1"},
        ]}});

        strategic(
            &mut target,
            &json!({"spec": {
                "$setElementOrder/containers": [{"name": "a"}, {"name": "c"}],
                "containers": [
                    {"name": "a", "image": "a:2"},
                    {"name": "b", "$patch": "delete"},
                    {"name": "c", "image": "c:1"},
                ],
            }}),
            &[],
        );

        assert_eq!(
            target,
            json!({"spec": {"containers": [
                {"name": "a", "image": "a:2", "args": ["x"]},
                {"name": "c", "image": "c:1"},
            ]}})
        );
    }

    #[test]
    fn keys_that_are_not_retained_go() {
        let mut target =
            json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}});

        strategic(
            &mut target,
            &json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}),
            &[],
        );

        assert_eq!(target, json!({"strategy": {"type": "Recreate"}}));
    }

    #[test]
    fn only_the_lists_of_the_kind_have_keys_and_not_those_of_the_same_name_in_an_extension() {
        let own = [("spec.workers".to_owned(), "name".to_owned())];
        let lists = json!([{"name": "a", "max": 1}]);
        let extension = json!({"workers": lists, "volumes": lists, "kind": "X"});
        let mut target = json!({"spec": {"workers": lists, "extension": extension}});
        let other = json!([{"name": "b"}]);

        let extension = json!({"workers": other, "volumes": other});
        let patch = json!({"spec": {"workers": other, "extension": extension}});
        strategic(&mut target, &patch, &own);

        let both = json!([{"name": "a", "max": 1}, {"name": "b"}]);
        let extension = json!({"workers": other, "volumes": other, "kind": "X"});
        assert_eq!(target, json!({"spec": {"workers": both, "extension": extension}}));
    }
}
