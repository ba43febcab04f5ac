//! The rules by which Gardener completes, refuses and counts changes of Shoots.

mod accounts;
mod authentication;
mod binding;
mod decoding;
mod defaults;
mod details;
mod domain;
pub(super) mod duration;
mod fields;
mod gates;
mod image;
mod immutable;
mod kubelet;
mod limits;
mod meta;
mod network;
mod objects;
mod operation;
mod places;
mod profile;
mod provider;
mod quota;
mod references;
mod schedules;
mod seeds;
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
    let (shoots, version) = (settings.clone(), settings.version);
    let typed = [
        (kinds::SHOOTS, schema::shoot(version)),
        (kinds::SECRET_BINDINGS, schema::secret_binding()),
        (kinds::CREDENTIALS_BINDINGS, schema::credentials_binding()),
        (kinds::PROJECTS, schema::object("Project", version)),
        (kinds::QUOTAS, schema::object("Quota", version)),
        (kinds::SEEDS, schema::object("Seed", version)),
        (kinds::PROFILES, schema::object("CloudProfile", version)),
        (kinds::EXPOSURE_CLASSES, schema::object("ExposureClass", version)),
    ];
    let catalog = typed.into_iter().fold(catalog, |catalog, (kind, form)| {
        catalog.admission(place.clone(), kind, move |write| {
            types::check(write, &form)?;
            decoding::check(write, &form)
        })
    });
    catalog
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
        .admission(place.clone(), kinds::SEEDS, move |write| seeds::seed(write, version))
        .admission(
            place.clone(),
            kinds::PROFILES,
            always(move |write| seeds::profile(write, version)),
        )
        .admission(place.clone(), kinds::PROJECTS, objects::project)
        .admission(place.clone(), kinds::QUOTAS, move |write| objects::quota(write, version))
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
            let mut causes = Vec::new();
            operation::check(write, settings.version, &mut causes);
            invalid(write, &causes)?;
            immutable::while_deleting(write)?;
            operation::count(write);
            Ok(())
        }
        Verb::Create | Verb::Update => {
            let twice = profile::named_twice(write, settings.version);
            profile::count(write, settings.version);
            defaults::fill(write, settings);
            binding::check(write, settings.version)?;
            authentication::reference(write)?;
            profile::references(write, settings.version)?;
            twice?;
            references::check(write, settings.version)?;
            fits_project(write, settings)?;
            references::seed(write, settings.version)?;
            references::zones_of_seed(write)?;
            references::finalizer(write)?;
            image::complete(write, settings.version)?;
            let refused = forbidden(write, settings);
            if !refused.is_empty() {
                return Err(refusal(write, settings.version, &refused));
            }
            may_hibernate(write)?;
            invalid(write, &wrong(write, settings))?;
            authentication::static_token(write, settings.version);
            references::registered(write)?;
            quota::check(write)?;
            if settings.webhooks {
                provider::check(write)?;
            }
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
    binding::same_provider(write, settings.version, &mut causes);
    version::offered_only(write, settings.version, &mut causes);
    if write.old.is_none() {
        authentication::oidc::forbidden(object, settings.version, &mut causes);
    }
    workers::offered_only(write, settings.version, &mut causes);
    // No region of this garden has restrictions to choose from.
    for (field, one) in places::places(object, "/spec/accessRestrictions/*") {
        let name = text(one, "/name").unwrap_or_default();
        causes.push(unsupported(field, name, []));
    }
    domain::taken(write, &mut causes);
    if causes.is_empty() && text(object, "/spec/seedName").is_some() {
        network::missing(object, settings.version, &mut causes);
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

/// 422, if there are causes.
fn invalid(write: &Admission<'_>, causes: &[Cause]) -> Result<(), Status> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(write.kind, name(write.object), causes))
}

/// The static rules.
fn wrong(write: &Admission<'_>, settings: &Settings) -> Vec<Cause> {
    let mut causes = Vec::new();
    let object = &*write.object;
    details::metadata(object, write.old, settings.version, &mut causes);
    operation::check(write, settings.version, &mut causes);
    match write.old {
        None => names(object, &mut causes),
        Some(old) => immutable::check(old, object, settings.version, &mut causes),
    }
    if write.old.is_none_or(|old| old["spec"] != object["spec"]) {
        version::check(write, settings.version, &mut causes);
        workers::check(write, settings.version, &mut causes);
        network::check(object, settings.version, &mut causes);
        limits::check(object, settings.version, &mut causes);
        kubelet::check(object, settings.version, &mut causes);
        gates::check(object, settings.version, &mut causes);
        schedules::check(object, &mut causes);
        details::check(object, settings.version, &mut causes);
        authentication::oidc::check(object, settings.version, &mut causes);
        fields::check(write, settings, &mut causes);
        authentication::check(object, settings.version, &mut causes);
    }
    causes
}

/// Refuses a name that is too long together with the project's.
fn fits_project(write: &Admission<'_>, settings: &Settings) -> Result<(), Status> {
    let (project, shoot) = (&settings.project, name(write.object));
    if write.old.is_some() || shoot.len() + project.len() <= LONGEST_NAME {
        return Ok(());
    }
    let why = format!(
        "the length of the shoot name and the project name must not exceed {LONGEST_NAME} characters (project: {project}; \
         shoot: {shoot})"
    );
    Err(Status::invalid(write.kind, shoot, &[Cause::invalid("name", shoot, &why)]))
}

fn names(object: &Value, causes: &mut Vec<Cause>) {
    let name = name(object);
    if name.contains("--") {
        let why = "name may not contain two consecutive hyphens";
        causes.push(Cause::invalid("metadata.name", name, why));
    }
    if !meta::is_label(name) {
        causes.push(Cause::invalid("metadata.name", name, meta::LABEL));
    }
}

fn confirmed(write: &Admission<'_>) -> Result<(), Status> {
    if annotation(write.object, CONFIRMATION).is_some_and(is_true) {
        return Ok(());
    }
    let why = format!("must have a \"{CONFIRMATION}\" annotation to delete");
    Err(Status::forbidden(write.kind, name(write.object), &why))
}

/// Whether Go reads a word as true.
fn is_true(word: &str) -> bool {
    ["1", "t", "T", "true", "TRUE", "True"].contains(&word)
}

/// Hibernation is refused where it may not come back from it: where the constraint is there, it must be `True`.
fn may_hibernate(write: &Admission<'_>) -> Result<(), Status> {
    let asleep = |object: &Value| object["spec"]["hibernation"]["enabled"] == true;
    let Some(old) = write.old else { return Ok(()) };
    if !asleep(write.object) || asleep(old) {
        return Ok(());
    }
    let mut constraints = list(old, "/status/constraints").iter();
    let Some(found) = constraints.find(|one| one["type"] == "HibernationPossible") else {
        return Ok(());
    };
    let word = |key: &str| found[key].as_str().unwrap_or_default();
    let (status, message) = (word("status"), word("message"));
    if status == "True" {
        return Ok(());
    }
    let why = format!("'HibernationPossible' constraint is '{status}': {message}");
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
