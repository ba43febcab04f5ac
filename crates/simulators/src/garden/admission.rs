//! The rules by which Gardener completes, refuses and counts changes of Shoots.

mod authentication;
mod binding;
mod decoding;
mod defaults;
mod immutable;
mod network;
mod profile;
mod quota;
mod version;
mod workers;

use cluster::{Admission, Catalog, Cause, Status, Verb, Where};
use serde_json::Value;

use super::{CONFIRMATION, OPERATION, kinds, schema, settings::Settings};

/// Project and Shoot together may be so long: the names of machines are made of both.
const LONGEST_NAME: usize = 21;

/// Adds the rules to a catalog.
pub(super) fn add(catalog: Catalog, place: &Where, settings: &Settings) -> Catalog {
    let shoots = settings.clone();
    let form = schema::shoot(settings.version);
    catalog
        .admission(place.clone(), kinds::SHOOTS, move |write| decoding::check(write, &form))
        .admission(place.clone(), kinds::SHOOTS, move |write| shoot(write, &shoots))
        .admission(place.clone(), kinds::SECRET_BINDINGS, binding::in_use)
        .admission(place.clone(), kinds::CREDENTIALS_BINDINGS, binding::in_use)
}

fn shoot(write: &mut Admission<'_>, settings: &Settings) -> Result<(), Status> {
    if write.subresource.is_some() {
        return Ok(());
    }
    match write.verb {
        Verb::Delete => confirmed(write),
        // One that is on its way out may lose its finalizers whatever its spec has become.
        Verb::Update if !write.object["metadata"]["deletionTimestamp"].is_null() => {
            count_operation(write);
            Ok(())
        }
        Verb::Create | Verb::Update => {
            defaults::fill(write, settings);
            binding::check(write)?;
            authentication::reference(write)?;
            let causes = wrong(write, settings);
            if !causes.is_empty() {
                return Err(Status::invalid(write.kind, name(write.object), &causes));
            }
            may_hibernate(write)?;
            quota::check(write)?;
            authentication::warn(write, settings.version);
            count_operation(write);
            Ok(())
        }
    }
}

fn wrong(write: &Admission<'_>, settings: &Settings) -> Vec<Cause> {
    let mut causes = Vec::new();
    let object = &*write.object;
    match write.old {
        None => names(object, settings, &mut causes),
        Some(old) => immutable::check(old, object, &mut causes),
    }
    // Rules for what is wanted are asked only when that changes: a profile may have moved on since.
    if write.old.is_none_or(|old| old["spec"] != object["spec"]) {
        profile::check(write, &mut causes);
        version::check(write, &mut causes);
        workers::check(write, &mut causes);
        network::check(object, &mut causes);
        authentication::check(object, settings.version, &mut causes);
    }
    causes
}

fn names(object: &Value, settings: &Settings, causes: &mut Vec<Cause>) {
    let name = name(object);
    if name.len() + settings.project.len() > LONGEST_NAME {
        let why = format!(
            "the length of the shoot name and the project name must not exceed {LONGEST_NAME} characters"
        );
        causes.push(Cause::invalid("metadata.name", name, &why));
    }
    if name.contains("--") {
        causes.push(Cause::invalid(
            "metadata.name",
            name,
            "may not contain two consecutive hyphens",
        ));
    }
    if name.contains('.') {
        causes.push(Cause::invalid("metadata.name", name, "must not contain dots"));
    }
}

fn confirmed(write: &Admission<'_>) -> Result<(), Status> {
    if annotation(write.object, CONFIRMATION) == Some("true") {
        return Ok(());
    }
    let why = format!("must have a \"{CONFIRMATION}\" annotation set to \"true\" to delete");
    Err(Status::forbidden(write.kind, name(write.object), &why))
}

/// Hibernation is refused where it would not come back from it.
fn may_hibernate(write: &Admission<'_>) -> Result<(), Status> {
    let asleep = |object: &Value| object["spec"]["hibernation"]["enabled"] == true;
    let Some(old) = write.old else { return Ok(()) };
    if !asleep(write.object) || asleep(old) {
        return Ok(());
    }
    let mut constraints = old["status"]["constraints"].as_array().into_iter().flatten();
    let blocked =
        constraints.find(|one| one["type"] == "HibernationPossible" && one["status"] == "False");
    let Some(blocked) = blocked else { return Ok(()) };
    let message = blocked["message"].as_str().unwrap_or_default();
    let why = format!("\"HibernationPossible\" constraint is \"False\": {message}");
    Err(Status::forbidden(write.kind, name(write.object), &why))
}

/// `retry` and `reconcile` count as a change of what is wanted, and are then forgotten.
fn count_operation(write: &mut Admission<'_>) {
    let wanted = annotation(write.object, OPERATION);
    if !matches!(wanted, Some("retry" | "reconcile" | "maintain")) || write.old.is_none() {
        return;
    }
    if let Some(annotations) = write.object["metadata"]["annotations"].as_object_mut() {
        annotations.shift_remove(OPERATION);
    }
    write.new_generation = true;
}

/// The name of an object.
fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// The namespace of an object.
fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or_default()
}

/// One of its annotations.
fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"].get(key)?.as_str()
}

/// The text at a path such as `/spec/region`; nothing if it is empty.
fn text<'a>(object: &'a Value, path: &str) -> Option<&'a str> {
    object.pointer(path)?.as_str().filter(|text| !text.is_empty())
}

/// The list at a path.
fn list<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    object.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A value that is none of those that are possible.
fn unsupported<'a>(
    field: impl Into<String>,
    value: &str,
    possible: impl IntoIterator<Item = &'a str>,
) -> Cause {
    let possible: Vec<String> = possible.into_iter().map(|one| format!("{one:?}")).collect();
    let message =
        format!("Unsupported value: {value:?}: supported values: {}", possible.join(", "));
    Cause { reason: "FieldValueNotSupported", field: field.into(), message }
}
