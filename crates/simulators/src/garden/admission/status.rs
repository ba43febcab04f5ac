//! Writes to parts of a Shoot: its status, and the Seed that it is bound to.

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use super::{defaults, name, network, references, refusal, text};
use crate::garden::{kinds, settings::Settings};

/// What never changes once it is set.
const FIXED: [&str; 3] = ["technicalID", "uid", "clusterIdentity"];
/// Fields of `lastOperation` and what they hold.
const NUMBERS: [&str; 2] = ["/lastOperation/progress", "/observedGeneration"];
const TEXTS: [&str; 5] = [
    "/lastOperation/description",
    "/lastOperation/state",
    "/lastOperation/type",
    "/seedName",
    "/technicalID",
];

/// Refuses values of the wrong type, and a change of what never changes.
pub(super) fn check(write: &Admission<'_>) -> Result<(), Status> {
    let status = &write.object["status"];
    let there = |path: &str| status.pointer(path).filter(|value| !value.is_null());
    let wrong = |path: &str, wanted: &str| {
        let field = path.trim_start_matches('/').replace('/', ".");
        let (kind, version) = (&write.kind.kind, &write.kind.version);
        Err(Status::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: json: cannot unmarshal into Go struct field \
             Shoot.status.{field} of type {wanted}"
        )))
    };
    if let Some(path) = NUMBERS.iter().find(|path| there(path).is_some_and(|it| !it.is_i64())) {
        return wrong(path, "int32");
    }
    if let Some(path) = TEXTS.iter().find(|path| there(path).is_some_and(|it| !it.is_string())) {
        return wrong(path, "string");
    }
    let Some(old) = write.old else { return Ok(()) };
    let mut causes = Vec::new();
    for key in FIXED {
        let before = text(old, &format!("/status/{key}"));
        let now = status[key].as_str().unwrap_or_default();
        if before.is_some_and(|before| before != now) {
            causes.push(Cause::invalid(format!("status.{key}"), now, "field is immutable"));
        }
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(write.kind, name(write.object), &causes))
}

/// Gives a Shoot its Seed, and with it the ranges and the domain that depend on it.
pub(super) fn bound(write: &mut Admission<'_>, settings: &Settings) -> Result<(), Status> {
    let path = "/spec/seedName";
    let forbidden =
        |write: &Admission<'_>, why: &str| Status::forbidden(write.kind, name(write.object), why);
    let before = write.old.and_then(|old| text(old, path)).map(str::to_owned);
    let Some(seed) = text(write.object, path).map(str::to_owned) else {
        return match before {
            None => Ok(()),
            Some(_) => Err(forbidden(write, "spec.seedName is already set and cannot be removed")),
        };
    };
    if before.as_deref() == Some(&seed) {
        return Ok(());
    }
    if write.find(kinds::SEEDS, "", &seed).is_none() {
        let why = format!("seed.core.gardener.cloud {seed:?} not found");
        return Err(forbidden(write, &why));
    }
    if let Some(before) = before {
        let why = format!(
            "cannot change seed name because backup is not configured for old seed {before:?}"
        );
        return Err(forbidden(write, &why));
    }
    let mut causes = Vec::new();
    defaults::fill(write, settings);
    network::missing(write.object, settings.version, &mut causes);
    network::overlaps(write, settings.version, &mut causes);
    if causes.is_empty() {
        return references::zones_of_seed(write);
    }
    Err(refusal(write, settings.version, &causes))
}

/// Whether one of these texts of the provider differs in its bytes, although it may mean the same.
pub(super) fn rewritten(old: &Value, new: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| {
        let of = |shoot: &Value| shoot["spec"]["provider"][*key].to_string();
        of(old) != of(new)
    })
}
