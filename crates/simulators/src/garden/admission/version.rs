//! The version of Kubernetes: one that the profile offers, never lower, one minor at a time.

use cluster::{Admission, Cause};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{list, profile, text, unsupported};

const PATH: &str = "/spec/kubernetes/version";
const FIELD: &str = "spec.kubernetes.version";

/// Names what is wrong with the version.
pub(super) fn check(write: &Admission<'_>, causes: &mut Vec<Cause>) {
    let Some(wanted) = text(write.object, PATH) else {
        causes.push(Cause::required(FIELD, "must be set"));
        return;
    };
    let before = write.old.and_then(|old| text(old, PATH));
    if before == Some(wanted) {
        return;
    }
    if let (Some(before), Some(next)) = (before.and_then(parts), parts(wanted)) {
        if next < before {
            causes.push(Cause::forbidden(FIELD, "kubernetes version downgrade is not supported"));
            return;
        }
        if next.0 != before.0 || next.1 > before.1 + 1 {
            let why = "kubernetes version upgrade cannot skip a minor version";
            causes.push(Cause::forbidden(FIELD, why));
            return;
        }
    }
    let Some(profile) = profile::of(write) else { return };
    if offered(&profile, write.now).all(|offered| offered != wanted) {
        let mut newest: Vec<&str> = offered(&profile, write.now).collect();
        newest.sort_by_key(|version| std::cmp::Reverse(parts(version)));
        causes.push(unsupported(FIELD, wanted, newest.into_iter().take(10)));
    }
}

/// `1.26` means the newest patch of it.
pub(super) fn complete(profile: &Value, shoot: &mut Value) {
    let Some(wanted) = text(shoot, PATH).filter(|wanted| wanted.split('.').count() == 2) else {
        return;
    };
    let prefix = format!("{wanted}.");
    let all =
        list(profile, "/spec/kubernetes/versions").iter().filter_map(|one| one["version"].as_str());
    let newest = all.filter(|one| one.starts_with(&prefix)).max_by_key(|one| parts(one));
    if let Some(newest) = newest {
        shoot["spec"]["kubernetes"]["version"] = json!(newest);
    }
}

fn offered(profile: &Value, now: Timestamp) -> impl Iterator<Item = &str> {
    let all = list(profile, "/spec/kubernetes/versions").iter();
    all.filter(move |one| {
        let until = one["expirationDate"].as_str().and_then(|until| until.parse().ok());
        until.is_none_or(|until: Timestamp| until > now)
    })
    .filter_map(|one| one["version"].as_str())
}

/// Its three numbers.
pub(super) fn parts(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.trim_start_matches('v').splitn(3, '.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}
