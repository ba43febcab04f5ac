//! Validation of a Kyma by its definition.

use std::collections::BTreeSet;

use cluster::{Admission, Cause, Status, Verb};
use serde_json::{Value, json};

/// Refuses a Kyma that its definition would refuse, and fills in what it would.
pub(super) fn admit(write: &mut Admission<'_>) -> Result<(), Status> {
    if write.verb == Verb::Delete || write.subresource.is_some() {
        return Ok(());
    }
    let mut causes = Vec::new();
    let spec = &mut write.object["spec"];
    if spec.is_object() {
        channel(&mut causes, "spec.channel", &spec["channel"], true);
        modules(&mut causes, &mut spec["modules"]);
        if spec["modules"].is_null()
            && let Some(spec) = spec.as_object_mut()
        {
            spec.shift_remove("modules");
        }
    } else {
        causes.push(Cause::required("spec", ""));
    }
    if causes.is_empty() {
        return Ok(());
    }
    let name = write.object["metadata"]["name"].as_str().unwrap_or_default();
    Err(Status::invalid(write.kind, name, &causes))
}

fn channel(causes: &mut Vec<Cause>, path: &str, value: &Value, required: bool) {
    match value.as_str() {
        None if value.is_null() && !required => {}
        None => causes.push(Cause::required(path, "")),
        Some(name) => {
            let plain = name.chars().all(|c| c.is_ascii_lowercase());
            if !plain || !(3..=32).contains(&name.len()) {
                let why = "should match '^[a-z]+$' and have 3 to 32 characters";
                causes.push(Cause::invalid(path, name, why));
            }
        }
    }
}

fn modules(causes: &mut Vec<Cause>, modules: &mut Value) {
    let mut names = BTreeSet::new();
    for (index, module) in modules.as_array_mut().into_iter().flatten().enumerate() {
        let path = |field: &str| format!("spec.modules[{index}].{field}");
        match module["name"].as_str() {
            None => causes.push(Cause::required(path("name"), "")),
            Some(name) if !names.insert(name.to_owned()) => {
                causes.push(Cause::invalid(path("name"), name, "Duplicate value"));
            }
            Some(_) => {}
        }
        channel(causes, &path("channel"), &module["channel"].clone(), false);
        let policy = module["customResourcePolicy"].clone();
        match policy.as_str() {
            None => module["customResourcePolicy"] = json!("CreateAndDelete"),
            Some("CreateAndDelete" | "Ignore") => {}
            Some(other) => {
                let why = "supported values: \"CreateAndDelete\", \"Ignore\"";
                causes.push(Cause::invalid(path("customResourcePolicy"), other, why));
            }
        }
        if module["managed"].is_null() {
            module["managed"] = json!(true);
        }
        if module["channel"].is_null()
            && let Some(module) = module.as_object_mut()
        {
            module.shift_remove("channel");
        }
    }
}
