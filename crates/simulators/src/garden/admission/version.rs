//! The version of Kubernetes: one that the profile offers, never lower, one minor at a time.

use cluster::{Admission, Cause};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{image, list, profile, text, unsupported};
use crate::garden::version::Version;

const PATH: &str = "/spec/kubernetes/version";
const FIELD: &str = "spec.kubernetes.version";

/// Names a version that the profile does not offer.
pub(super) fn offered_only(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let wanted = text(write.object, PATH).unwrap_or_default();
    let before = write.old.and_then(|old| text(old, PATH)).unwrap_or_default();
    if wanted == before && write.old.is_some() {
        return;
    }
    let Some(profile) = profile::of(write) else { return };
    let older = gardener < Version::V1_117;
    if wanted.is_empty() && write.old.is_none() && older {
        let why = "cannot parse the kubernetes version: Invalid Semantic Version";
        causes.push(Cause::invalid(FIELD, wanted, why));
        return;
    }
    // One that was not completed is either whole or fits nothing.
    if !older && wanted.split('.').count() != 3 {
        let why = match release(wanted) {
            None => "must be a semantic version",
            Some(_) => "couldn't find a suitable version",
        };
        causes.push(Cause::invalid(FIELD, wanted, why));
    }
    // On its way up a Shoot may meet versions that have expired since.
    let any = !older && write.old.is_some();
    let all = list(&profile, "/spec/kubernetes/versions").iter();
    let offered = all.filter(|one| any || image::is_offered(one, write.now));
    let offered: Vec<&str> = offered.filter_map(|one| one["version"].as_str()).collect();
    if !offered.contains(&wanted) {
        causes.push(unsupported(FIELD, wanted, offered));
    }
}

/// Names what is wrong with a change of the version.
pub(super) fn check(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let Some(old) = write.old else { return };
    let before = text(old, PATH).and_then(parts);
    let wanted = text(write.object, PATH).and_then(parts);
    let (Some(before), Some(next)) = (before, wanted) else { return };
    let wrong = step(before, next, true);
    causes.extend(wrong.map(|why| Cause::forbidden(FIELD, why)));
    machines(old, write.object, gardener, causes);
    if wrong.is_none() && gardener < Version::V1_117 && before.1 < 25 && next.1 >= 25 {
        without_policies(old, write.object, causes);
    }
}

/// Why a version cannot follow another.
fn step(before: (u32, u32, u32), next: (u32, u32, u32), one_minor: bool) -> Option<&'static str> {
    if next < before {
        Some("kubernetes version downgrade is not supported")
    } else if one_minor && (next.0 != before.0 || next.1 > before.1 + 1) {
        Some("kubernetes version upgrade cannot skip a minor version")
    } else {
        None
    }
}

/// The machines of each group follow the same rule, but newer Gardeners let them skip minor versions.
fn machines(old: &Value, new: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let own = |shoot: &Value, group: &Value| {
        text(group, "/kubernetes/version").or_else(|| text(shoot, PATH)).and_then(parts)
    };
    for (place, group) in list(new, "/spec/provider/workers").iter().enumerate() {
        let mut groups = list(old, "/spec/provider/workers").iter();
        let before = groups.find(|one| one["name"] == group["name"]).unwrap_or(group);
        let (Some(before), Some(next)) = (own(old, before), own(new, group)) else { continue };
        if let Some(why) = step(before, next, gardener < Version::V1_117) {
            let field = format!("spec.provider.workers[{place}].kubernetes.version");
            causes.push(Cause::forbidden(field, why));
        }
    }
}

/// Kubernetes 1.25 has no `PodSecurityPolicy` any more: a Shoot must do without it before it gets there.
fn without_policies(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    if ![old, new].into_iter().all(super::defaults::has_no_pod_security_policy) {
        let why = "admission plugin \"PodSecurityPolicy\" should be disabled for Kubernetes versions >=1.25, please \
                   disable it before upgrading";
        causes.push(Cause::forbidden(FIELD, why));
        return;
    }
    if old["status"]["observedGeneration"] != old["metadata"]["generation"] {
        let why = "Shoot should have been reconciled successfully before upgrading to v1.25; error: shoot generation did \
                   not equal observed generation";
        causes.push(Cause::forbidden(FIELD, why));
    }
}

/// Names a version of a group of machines that the profile does not offer. Newer Gardeners let a group that is there take
/// one that has expired.
pub(super) fn of_machines(
    write: &Admission<'_>,
    gardener: Version,
    profile: &Value,
    causes: &mut Vec<Cause>,
) {
    let groups = |shoot| list(shoot, "/spec/provider/workers").iter();
    for (place, group) in groups(write.object).enumerate() {
        let Some(wanted) = group["kubernetes"]["version"].as_str() else { continue };
        let before = write.old.and_then(|old| groups(old).find(|it| it["name"] == group["name"]));
        if before.is_some_and(|before| before["kubernetes"]["version"] == wanted) {
            continue;
        }
        let any = gardener >= Version::V1_117 && before.is_some();
        let all = list(profile, "/spec/kubernetes/versions").iter();
        let offered = all.filter(|one| any || image::is_offered(one, write.now));
        let offered: Vec<&str> = offered.filter_map(|one| one["version"].as_str()).collect();
        if !offered.contains(&wanted) {
            let field = format!("spec.provider.workers[{place}].kubernetes.version");
            causes.push(unsupported(field, wanted, offered));
        }
    }
}

/// Completes a version such as `1.26` to its newest patch; newer Gardeners also do so with `1`, and with nothing.
pub(super) fn complete(profile: &Value, shoot: &mut Value, gardener: Version, now: Timestamp) {
    let newest = fitting(profile, text(shoot, PATH).unwrap_or_default(), gardener, now);
    if let Some(newest) = newest {
        shoot["spec"]["kubernetes"]["version"] = json!(newest);
    }
    let groups = shoot.pointer_mut("/spec/provider/workers").and_then(Value::as_array_mut);
    for group in groups.into_iter().flatten() {
        let newest = text(group, "/kubernetes/version")
            .and_then(|wanted| fitting(profile, wanted, gardener, now));
        if let Some(newest) = newest {
            group["kubernetes"]["version"] = json!(newest);
        }
    }
}

/// The newest version that one which is not whole may mean; nothing for one that is.
fn fitting<'a>(
    profile: &'a Value,
    wanted: &str,
    gardener: Version,
    now: Timestamp,
) -> Option<&'a str> {
    let parts = wanted.split('.').count();
    if parts == 3 || gardener < Version::V1_117 && parts != 2 {
        return None;
    }
    let (major, minor) = release(wanted)?;
    let all = list(profile, "/spec/kubernetes/versions").iter();
    let offered =
        all.filter(|one| image::is_offered(one, now) && one["classification"] != "preview");
    let all = offered.filter_map(|one| one["version"].as_str()).filter(|one| {
        self::parts(one).is_some_and(|one| {
            major.is_none_or(|major| one.0 == major) && minor.is_none_or(|minor| one.1 == minor)
        })
    });
    all.max_by_key(|one| self::parts(one))
}

/// Major and minor of a version that may lack either; nothing if one of them is no number.
fn release(version: &str) -> Option<(Option<u32>, Option<u32>)> {
    let parts: Vec<&str> = version.split('.').collect();
    let number =
        |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    let minor = if let [_, minor] = parts.as_slice() { number(minor)? } else { None };
    Some((number(parts.first().copied().unwrap_or_default())?, minor))
}

/// Its three numbers.
pub(super) fn parts(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.trim_start_matches('v').splitn(3, '.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}
