//! The rules by which Gardener completes, refuses and counts changes of Shoots.

mod accounts;
mod authentication;
mod binding;
mod decoding;
mod defaults;
mod details;
pub(super) mod duration;
mod fields;
mod image;
mod immutable;
mod network;
mod operation;
mod profile;
mod provider;
mod quota;
mod references;
mod status;
mod tasks;
mod types;
mod version;
mod workers;

use cluster::{Admission, Catalog, Cause, Status, Verb, Where};
use serde_json::Value;

use super::{CONFIRMATION, kinds, schema, settings::Settings, version::Version};

/// Project and Shoot together may be so long: the names of machines are made of both.
const LONGEST_NAME: usize = 21;

/// Adds the rules to a catalog.
pub(super) fn add(catalog: Catalog, place: &Where, settings: &Settings) -> Catalog {
    let shoots = settings.clone();
    let form = schema::shoot(settings.version);
    let typed = form.clone();
    catalog
        .admission(place.clone(), kinds::SHOOTS, move |write| types::check(write, &typed))
        .admission(place.clone(), kinds::SHOOTS, move |write| decoding::check(write, &form))
        .admission(place.clone(), kinds::SHOOTS, move |write| shoot(write, &shoots))
        .admission(place.clone(), kinds::SECRET_BINDINGS, accounts::check)
        .admission(place.clone(), kinds::CREDENTIALS_BINDINGS, accounts::check)
        .admission(place.clone(), kinds::SECRET_BINDINGS, always(binding::hold))
        .admission(place.clone(), kinds::CREDENTIALS_BINDINGS, always(binding::hold))
        .admission(
            place.clone(),
            kinds::PROFILES,
            always(|write| accounts::label(write, "/spec/type")),
        )
        .admission(
            place.clone(),
            kinds::SEEDS,
            always(|write| accounts::label(write, "/spec/provider/type")),
        )
}

/// A rule that refuses nothing.
fn always(
    change: impl Fn(&mut Admission<'_>) + Send + Sync + 'static,
) -> impl Fn(&mut Admission<'_>) -> Result<(), Status> + Send + Sync + 'static {
    move |write| {
        change(write);
        Ok(())
    }
}

fn shoot(write: &mut Admission<'_>, settings: &Settings) -> Result<(), Status> {
    match write.subresource {
        None => {}
        Some("binding") => return status::bound(write, settings),
        Some(_) => return status::check(write),
    }
    match write.verb {
        Verb::Delete => confirmed(write),
        // One that is on its way out may lose its finalizers, and nothing else changes.
        Verb::Update if !write.object["metadata"]["deletionTimestamp"].is_null() => {
            references::finalizer(write)?;
            operation::check(write, settings.version)?;
            immutable::while_deleting(write)?;
            operation::count(write);
            Ok(())
        }
        Verb::Create | Verb::Update => {
            defaults::fill(write, settings);
            binding::check(write, settings.version)?;
            authentication::reference(write)?;
            profile::references(write, settings.version)?;
            references::check(write, settings.version)?;
            references::seed(write, settings.version)?;
            references::zones_of_seed(write)?;
            references::finalizer(write)?;
            let refused = forbidden(write, settings);
            if !refused.is_empty() {
                return Err(refusal(write, settings.version, &refused));
            }
            may_hibernate(write)?;
            quota::check(write)?;
            operation::check(write, settings.version)?;
            let causes = wrong(write, settings);
            if !causes.is_empty() {
                return Err(Status::invalid(write.kind, name(write.object), &causes));
            }
            authentication::warn(write, settings.version);
            provider::check(write)?;
            tasks::add(write);
            operation::count(write);
            Ok(())
        }
    }
}

/// What the admission plugins refuse, before the static rules are looked at. Asked only when what is wanted changes: a
/// profile may have moved on since.
fn forbidden(write: &Admission<'_>, settings: &Settings) -> Vec<Cause> {
    let mut causes = Vec::new();
    let object = &*write.object;
    if write.old.is_some_and(|old| old["spec"] == object["spec"]) {
        return causes;
    }
    if !profile::check(write, &mut causes) {
        return causes;
    }
    binding::same_provider(write, &mut causes);
    version::offered_only(write, settings.version, &mut causes);
    authentication::oidc::forbidden(object, settings.version, &mut causes);
    workers::offered_only(write, settings.version, &mut causes);
    if causes.is_empty() && text(object, "/spec/seedName").is_some() {
        network::overlaps(write, settings.version, &mut causes);
    }
    causes
}

/// 403 without causes: all field errors are in the message.
fn refusal(write: &Admission<'_>, gardener: Version, causes: &[Cause]) -> Status {
    let said = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message));
    let said: Vec<String> = said.collect();
    let why = match (gardener < Version::V1_117, said.as_slice()) {
        (true, said) => format!("[{}]", said.join(" ")),
        (false, [one]) => one.clone(),
        (false, said) => format!("[{}]", said.join(", ")),
    };
    Status::forbidden(write.kind, name(write.object), &why)
}

/// The static rules.
fn wrong(write: &Admission<'_>, settings: &Settings) -> Vec<Cause> {
    let mut causes = Vec::new();
    let object = &*write.object;
    details::metadata(object, &mut causes);
    match write.old {
        None => names(object, settings, &mut causes),
        Some(old) => immutable::check(old, object, settings.version, &mut causes),
    }
    if write.old.is_none_or(|old| old["spec"] != object["spec"]) {
        version::check(write, settings.version, &mut causes);
        workers::check(write, settings.version, &mut causes);
        network::check(object, settings.version, &mut causes);
        details::check(object, &mut causes);
        authentication::oidc::check(object, settings.version, &mut causes);
        fields::check(write, settings, &mut causes);
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
            "name may not contain two consecutive hyphens",
        ));
    }
    if name.contains('.') {
        causes.push(Cause::invalid("metadata.name", name, "must not contain dots"));
    }
}

fn confirmed(write: &Admission<'_>) -> Result<(), Status> {
    // What Go reads as true.
    let yes = ["1", "t", "T", "true", "TRUE", "True"];
    if annotation(write.object, CONFIRMATION).is_some_and(|word| yes.contains(&word)) {
        return Ok(());
    }
    let why = format!("must have a \"{CONFIRMATION}\" annotation to delete");
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
    let why = format!("'HibernationPossible' constraint is 'False': {message}");
    Err(Status::forbidden(write.kind, name(write.object), &why))
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
