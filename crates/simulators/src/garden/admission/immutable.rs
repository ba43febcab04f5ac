//! Immutable fields of a Shoot.

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use crate::garden::version::Version;

/// Fields that never change once they are set.
const FIXED: [&str; 7] = [
    "/spec/region",
    "/spec/provider/type",
    "/spec/networking/type",
    "/spec/networking/pods",
    "/spec/networking/services",
    "/spec/dns/domain",
    "/spec/controlPlane/highAvailability/failureTolerance/type",
];
/// What newer Gardeners let change.
const OLDER: [&str; 3] =
    ["/spec/networking/nodes", "/spec/networking/ipFamilies", "/spec/cloudProfileName"];
/// Only newer Gardeners have it.
const NEWER: [&str; 1] = ["/spec/schedulerName"];
/// Cannot even be set later.
const FROM_THE_START: [&str; 2] =
    ["/spec/exposureClassName", "/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize"];

/// Names every field that was changed and may not be.
pub(super) fn check(old: &Value, new: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let own = if gardener < Version::V1_117 { OLDER.as_slice() } else { NEWER.as_slice() };
    for path in FIXED.iter().chain(own) {
        compare(path, old.pointer(path), new.pointer(path), causes);
    }
    for path in FROM_THE_START {
        let at = |shoot: &Value| shoot.pointer(path).cloned().unwrap_or_default();
        if at(old) != at(new) {
            let field = path.trim_start_matches('/').replace('/', ".");
            causes.push(Cause::invalid(field, &plain(&at(new)), "field is immutable"));
        }
    }
    if !old["spec"]["dns"].is_null() && new["spec"]["dns"].is_null() {
        causes.push(Cause::invalid("spec.dns", "null", "field is immutable"));
    }
    bindings(old, new, causes);
}

/// Nothing of what is wanted changes while a Shoot is being deleted.
pub(super) fn while_deleting(write: &Admission<'_>) -> Result<(), Status> {
    if write.old.is_none_or(|old| old["spec"] == write.object["spec"]) {
        return Ok(());
    }
    let cause = Cause::invalid("spec", "core.ShootSpec{…}", "field is immutable");
    Err(Status::invalid(write.kind, super::name(write.object), &[cause]))
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, causes: &mut Vec<Cause>) {
    let set = |value: Option<&Value>| {
        value.filter(|value| !value.is_null() && value.as_str() != Some("")).cloned()
    };
    let (Some(old), new) = (set(old), set(new)) else { return };
    if new.as_ref() != Some(&old) {
        let shown = new.map_or_else(|| "null".to_owned(), |new| plain(&new));
        let field = path.trim_start_matches('/').replace('/', ".");
        causes.push(Cause::invalid(field, &shown, "field is immutable"));
    }
}

/// The account stays; only from the older kind of binding to the newer may a Shoot move.
fn bindings(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    let (secret, credentials) = ("/spec/secretBindingName", "/spec/credentialsBindingName");
    let moved = super::text(old, secret).is_some()
        && super::text(new, secret).is_none()
        && super::text(new, credentials).is_some();
    if !moved {
        compare(secret, old.pointer(secret), new.pointer(secret), causes);
    }
    if super::text(old, credentials).is_some() && super::text(new, credentials).is_none() {
        compare(credentials, old.pointer(credentials), new.pointer(credentials), causes);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
