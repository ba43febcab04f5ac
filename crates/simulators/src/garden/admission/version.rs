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
    if !wanted.is_empty() && write.old.and_then(|old| text(old, PATH)) == Some(wanted) {
        return;
    }
    if wanted.is_empty() && write.old.is_none() {
        let why = "cannot parse the kubernetes version: Invalid Semantic Version";
        causes.push(Cause::invalid(FIELD, wanted, why));
        return;
    }
    let Some(profile) = profile::of(write) else { return };
    if gardener >= Version::V1_117
        && !wanted.starts_with(|first: char| first.is_ascii_digit() || first == 'v')
    {
        causes.push(Cause::invalid(FIELD, wanted, "must be a semantic version"));
    }
    if offered(&profile, write.now).all(|offered| offered != wanted) {
        causes.push(unsupported(FIELD, wanted, offered(&profile, write.now)));
    }
}

/// Names what is wrong with a change of the version.
pub(super) fn check(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let Some(old) = write.old else { return };
    let before = text(old, PATH).and_then(parts);
    let wanted = text(write.object, PATH).and_then(parts);
    let (Some(before), Some(next)) = (before, wanted) else { return };
    if next < before {
        causes.push(Cause::forbidden(FIELD, "kubernetes version downgrade is not supported"));
    } else if next.0 != before.0 || next.1 > before.1 + 1 {
        let why = "kubernetes version upgrade cannot skip a minor version";
        causes.push(Cause::forbidden(FIELD, why));
    } else if gardener < Version::V1_117 && before.1 < 25 && next.1 >= 25 {
        without_policies(old, write.object, causes);
    }
}

/// Kubernetes 1.25 has no `PodSecurityPolicy` any more: a Shoot must do without it before it gets there.
fn without_policies(old: &Value, new: &Value, causes: &mut Vec<Cause>) {
    if ![old, new].into_iter().all(super::defaults::has_no_pod_security_policy) {
        let why = "admission plugin \"PodSecurityPolicy\" should be disabled for Kubernetes versions >=1.25, please \
                   disable it before upgrading";
        causes.push(Cause::forbidden("spec.kubernetes.kubeAPIServer.admissionPlugins", why));
        return;
    }
    if old["status"]["observedGeneration"] != old["metadata"]["generation"] {
        let why = "Shoot should have been reconciled successfully before upgrading to v1.25; error: shoot generation did \
                   not equal observed generation";
        causes.push(Cause::forbidden(FIELD, why));
    }
}

/// The newest version that is supported.
pub(super) fn newest(profile: &Value) -> Option<&str> {
    let all = list(profile, "/spec/kubernetes/versions").iter();
    let supported = all.filter(|one| one["classification"] == "supported");
    supported.filter_map(|one| one["version"].as_str()).max_by_key(|one| parts(one))
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
    all.filter(move |one| image::is_offered(one, now)).filter_map(|one| one["version"].as_str())
}

/// Its three numbers.
pub(super) fn parts(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.trim_start_matches('v').splitn(3, '.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}
