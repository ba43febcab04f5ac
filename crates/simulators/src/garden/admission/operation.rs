//! `gardener.cloud/operation`: which operations may be asked for, and which of them count as a change of what is wanted.

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{annotation, list, unsupported};
use crate::garden::{OPERATION, version::Version};

/// The operation that waits for the maintenance window.
const MAINTENANCE: &str = "maintenance.gardener.cloud/operation";
/// What both annotations know.
const COMMON: &[&str] = &[
    "reconcile",
    "rotate-ca-complete",
    "rotate-ca-start",
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    "rotate-observability-credentials",
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
    "rotate-ssh-keypair",
];
/// What 1.65 knows besides.
const OLDER: &[&str] = &["rotate-kubeconfig-credentials"];
/// What 1.117 knows besides.
const NEWER: &[&str] = &[
    "rotate-ca-start-without-workers-rollout",
    "rotate-credentials-start-without-workers-rollout",
    ROLLOUT,
    "rotate-serviceaccount-key-start-without-workers-rollout",
];
/// What is done at once only.
const AT_ONCE: &[&str] = &["maintain", "retry"];

/// Names an operation that there is not, or that cannot begin now.
pub(super) fn check(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let more = if gardener < Version::V1_117 { OLDER } else { NEWER };
    let wanted = |key: &str| annotation(write.object, key).filter(|wanted| !wanted.is_empty());
    // A Shoot that is there has lost the one that is done at once before anybody compares them.
    let is_new = write.old.is_none();
    if is_new && wanted(OPERATION).is_some() && wanted(OPERATION) == wanted(MAINTENANCE) {
        let why = format!("annotations {OPERATION} and {MAINTENANCE} must not be equal");
        causes.push(Cause::forbidden("metadata.annotations", &why));
    }
    for (key, lists) in
        [(OPERATION, [COMMON, more, AT_ONCE].as_slice()), (MAINTENANCE, [COMMON, more].as_slice())]
    {
        let Some(wanted) = wanted(key) else { continue };
        let field = format!("metadata.annotations[{key}]");
        let rollout = wanted.strip_prefix(ROLLOUT).filter(|_| gardener >= Version::V1_117);
        if rollout.is_none() && !lists.iter().any(|list| list.contains(&wanted)) {
            let mut all: Vec<&str> = lists.concat();
            all.sort_unstable();
            causes.push(unsupported(field, wanted, all));
            continue;
        }
        if rollout.is_some() || wanted.ends_with("-without-workers-rollout") {
            let why = format!(
                "the {wanted} operation can only be used when the CredentialsRotationWithoutWorkersRollout feature gate is \
                 enabled"
            );
            causes.push(Cause::forbidden(field.clone(), &why));
        }
        let is_asleep = write.object["spec"]["hibernation"]["enabled"] == true
            || gardener >= Version::V1_117 && write.object["status"]["hibernated"] == true;
        if is_asleep && AWAKE.iter().any(|part| wanted.starts_with(part)) {
            let why = "operation is not permitted when shoot is hibernated or is waking up";
            causes.push(Cause::forbidden(field.clone(), why));
        }
        let whys = too_early(write, wanted).into_iter();
        causes.extend(whys.map(|why| Cause::forbidden(field.clone(), &why)));
        if let Some(pools) = rollout {
            causes.extend(rolled_out(write, &field, pools));
        }
    }
}

/// What cannot be done while a Shoot is asleep.
const AWAKE: [&str; 4] =
    ["rotate-credentials-", "rotate-etcd-encryption-key-", "rotate-serviceaccount-key-", ROLLOUT];
/// Machines that wait for a rotation are rolled out, group by group.
const ROLLOUT: &str = "rotate-rollout-workers";

fn too_early(write: &Admission<'_>, wanted: &str) -> Vec<String> {
    let Some(rest) = wanted.strip_prefix("rotate-") else { return Vec::new() };
    let (what, parts) = subject(rest);
    let none = Value::Null;
    let status = write.old.map_or(&none, |old| &old["status"]);
    let phase = |part: &str| status["credentials"]["rotation"][part]["phase"].as_str();
    let phase = |part: &str| phase(part).unwrap_or_default().to_owned();
    let mut whys = Vec::new();
    let mut not_in = |part: &str, wanted: &str, doing: &str| {
        whys.push(format!(
            "cannot {doing} {what} if .status.credentials.rotation.{part}.phase is not '{wanted}'"
        ));
    };
    if rest.contains("-start") {
        let begun = parts.iter().filter(|part| !["", "Completed"].contains(&phase(part).as_str()));
        begun.for_each(|part| not_in(part, "Completed", "start"));
        let last = &status["lastOperation"];
        let is_made = last["state"] == "Succeeded"
            && ["Create", "Restore"].iter().any(|it| last["type"] == *it);
        let going = !write.object["metadata"]["deletionTimestamp"].is_null();
        if going || !(is_made || last["type"] == "Reconcile") {
            let why =
                "if shoot was not yet created successfully or is not ready for reconciliation";
            whys.insert(0, format!("cannot start {what} {why}"));
        }
    } else if rest.ends_with("-complete") {
        let waiting = parts.iter().filter(|part| phase(part) != "Prepared");
        waiting.for_each(|part| not_in(part, "Prepared", "complete"));
    }
    whys
}

/// What is wrong with the groups that are to be rolled out: `=a,b`.
fn rolled_out(write: &Admission<'_>, field: &str, pools: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let none = Value::Null;
    let rotations = write.old.map_or(&none, |old| &old["status"]["credentials"]["rotation"]);
    let waits = |part: &str| rotations[part]["phase"] == "WaitingForWorkersRollout";
    if !waits("certificateAuthorities") && !waits("serviceAccountKey") {
        let why = "either .status.credentials.rotation.certificateAuthorities.phase or \
                   .status.credentials.rotation.serviceAccountKey.phase must be in 'WaitingForWorkersRollout' in order to \
                   trigger workers rollout";
        causes.push(Cause::forbidden(field, why));
    }
    let all = list(write.object, "/spec/provider/workers");
    for pool in pools.trim_start_matches('=').split(',') {
        if pool.is_empty() {
            causes.push(Cause::required(field, "must provide at least one pool name"));
        } else if all.iter().all(|one| one["name"] != pool) {
            let why = format!("worker pool name {pool} does not exist in .spec.provider.workers[]");
            causes.push(Cause::invalid(field, pool, &why));
        }
    }
    causes
}

/// What an operation rotates, in words and as the fields of the status that tell of it.
fn subject(rest: &str) -> (&'static str, &'static [&'static str]) {
    match rest.split_once('-').map_or(rest, |(first, _)| first) {
        "ca" => ("CA rotation", &["certificateAuthorities"]),
        "serviceaccount" => ("service account key rotation", &["serviceAccountKey"]),
        "etcd" => ("ETCD encryption key rotation", &["etcdEncryptionKey"]),
        _ => (
            "rotation of all credentials",
            &["certificateAuthorities", "serviceAccountKey", "etcdEncryptionKey"],
        ),
    }
}

/// Counts an operation as a change, and forgets it where Gardener's API server does.
pub(super) fn count(write: &mut Admission<'_>) {
    let Some(old) = write.old else { return };
    let asleep = |shoot: &Value| shoot["spec"]["hibernation"]["enabled"] == true;
    if is_confined(write.object) {
        // What else has changed waits for the maintenance window.
        write.same_generation = asleep(old) == asleep(write.object);
    } else {
        // Gardener compares the bytes of what belongs to the provider.
        let keys = ["infrastructureConfig", "controlPlaneConfig"];
        write.new_generation |= super::status::rewritten(old, write.object, &keys);
    }
    let Some(wanted) = annotation(write.object, OPERATION) else { return };
    // Together with a change it stays, and the change counts.
    if old["spec"] != write.object["spec"] {
        return;
    }
    let state = old["status"]["lastOperation"]["state"].as_str();
    match (wanted, state) {
        ("reconcile", Some(state)) if state != "Failed" => {}
        ("retry", Some("Failed")) => {}
        (wanted, state) if wanted.starts_with("rotate-") => {
            // It stays until it is done; it counts when it is new.
            let new = annotation(old, OPERATION) != Some(wanted);
            write.new_generation |= new && state != Some("Failed");
            return;
        }
        _ => return,
    }
    if let Some(annotations) = annotations(write.object) {
        annotations.shift_remove(OPERATION);
    }
    write.new_generation = true;
}

/// Whether changes of a Shoot wait for its maintenance window.
pub(super) fn is_confined(shoot: &Value) -> bool {
    shoot["spec"]["maintenance"]["confineSpecUpdateRollout"] == true
}

fn annotations(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object["metadata"]["annotations"].as_object_mut()
}
