//! Bindings of accounts, and the labels by which extensions find what is theirs.

use cluster::{Admission, Cause, Status, Verb};
use serde_json::{Value, json};

use super::{list, name, namespace, text};
use crate::garden::kinds;

/// Labels a binding by its provider, and refuses one that leads nowhere or changes where it leads.
pub(super) fn check(write: &mut Admission<'_>) -> Result<(), Status> {
    if write.verb == Verb::Delete {
        return Ok(());
    }
    label(write, "/provider/type");
    references(write)?;
    let older = write.kind.resource() == kinds::SECRET_BINDINGS;
    let reference = if older { "secretRef" } else { "credentialsRef" };
    let mut causes = Vec::new();
    match write.old {
        None if write.object["provider"].is_null() => {
            causes.push(Cause::required("provider", "must specify a provider"));
        }
        None if text(write.object, "/provider/type").is_none() => {
            causes.push(Cause::required("provider.type", "must specify a provider type"));
        }
        None => {}
        Some(old) => {
            for key in ["provider", reference, "quotas"] {
                let (before, now) = (&old[key], &write.object[key]);
                if before != now && !(key == "provider" && before.is_null()) {
                    causes.push(Cause::invalid(key, &now.to_string(), "field is immutable"));
                }
            }
        }
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(write.kind, name(write.object), &causes))
}

/// The Secret and the quotas must be there when they are named.
fn references(write: &mut Admission<'_>) -> Result<(), Status> {
    let object = &*write.object;
    let changed = |key: &str| write.old.is_none_or(|old| old[key] != object[key]);
    let inside =
        |reference: &Value| text(reference, "/namespace").unwrap_or(namespace(object)).to_owned();
    let forbidden = |why: &str| Err(Status::forbidden(write.kind, name(object), why));
    for key in ["secretRef", "credentialsRef"] {
        let reference = &object[key];
        let is_secret = key == "secretRef" || reference["kind"] == "Secret";
        if !reference.is_object() || !is_secret || !changed(key) {
            continue;
        }
        let named = text(reference, "/name").unwrap_or_default();
        let Some(place) = text(reference, "/namespace") else {
            let why = "an empty namespace may not be set when a resource name is provided";
            return forbidden(why);
        };
        if write.find("secrets", place, named).is_none() {
            return forbidden(&format!("secrets {named:?} not found"));
        }
    }
    if changed("quotas") {
        let lost = list(object, "/quotas").iter().find_map(|quota| {
            let named = text(quota, "/name").unwrap_or_default();
            write.find(kinds::QUOTAS, &inside(quota), named).is_none().then_some(named)
        });
        if let Some(lost) = lost {
            return forbidden(&format!("quota.core.gardener.cloud {lost:?} not found"));
        }
    }
    Ok(())
}

/// Sets the label of the provider at a path, which may be several separated by commas.
pub(super) fn label(write: &mut Admission<'_>, path: &str) {
    if write.verb == Verb::Delete || write.subresource.is_some() {
        return;
    }
    let kinds = text(write.object, path).unwrap_or_default().split(',').map(str::trim);
    let wanted: Vec<String> = kinds
        .filter(|kind| !kind.is_empty())
        .map(|kind| format!("provider.extensions.gardener.cloud/{kind}"))
        .collect();
    let metadata = &mut write.object["metadata"];
    if !wanted.is_empty() && matches!(metadata["labels"], Value::Object(_) | Value::Null) {
        for key in wanted {
            metadata["labels"][key] = json!("true");
        }
    }
}
