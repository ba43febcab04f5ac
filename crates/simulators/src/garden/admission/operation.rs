//! `gardener.cloud/operation`: which operations may be asked for, and which of them count as a change of what is wanted.

use cluster::{Admission, Cause, Status};
use serde_json::Value;

use super::{annotation, name, unsupported};
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
    "rotate-serviceaccount-key-start-without-workers-rollout",
];
/// What is done at once only.
const AT_ONCE: &[&str] = &["maintain", "retry"];

/// Refuses an operation that there is not, or that cannot begin now.
pub(super) fn check(write: &Admission<'_>, gardener: Version) -> Result<(), Status> {
    let more = if gardener < Version::V1_117 { OLDER } else { NEWER };
    let mut causes = Vec::new();
    for (key, lists) in
        [(OPERATION, [COMMON, more, AT_ONCE].as_slice()), (MAINTENANCE, [COMMON, more].as_slice())]
    {
        let wanted = annotation(write.object, key).filter(|wanted| !wanted.is_empty());
        let Some(wanted) = wanted else { continue };
        let field = format!("metadata.annotations[{key}]");
        if !lists.iter().any(|list| list.contains(&wanted)) {
            let mut all: Vec<&str> = lists.concat();
            all.sort_unstable();
            causes.push(unsupported(field, wanted, all));
        } else if let Some(why) = too_early(write, wanted) {
            causes.push(Cause::forbidden(field, &why));
        }
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(write.kind, name(write.object), &causes))
}

fn too_early(write: &Admission<'_>, wanted: &str) -> Option<String> {
    let rest = wanted.strip_prefix("rotate-")?;
    let asleep = write.object["spec"]["hibernation"]["enabled"] == true
        || write.object["status"]["hibernated"] == true;
    if asleep && ["etcd-", "credentials-"].iter().any(|part| rest.starts_with(part)) {
        return Some(
            "operation is not permitted when shoot is hibernated or is waking up".to_owned(),
        );
    }
    if rest.contains("-start") {
        let last = write.old.map(|old| &old["status"]["lastOperation"]);
        let created = last.is_some_and(|last| {
            !(last.is_null() || last["type"] == "Create" && last["state"] != "Succeeded")
        });
        let going = !write.object["metadata"]["deletionTimestamp"].is_null();
        let (what, _) = subject(rest);
        return (!created || going).then(|| {
            format!("cannot start {what} if shoot was not yet created successfully or is not ready for reconciliation")
        });
    }
    rest.strip_suffix("-complete")?;
    let (what, parts) = subject(rest);
    let none = Value::Null;
    let rotations = write.old.map_or(&none, |old| &old["status"]["credentials"]["rotation"]);
    let waiting = parts.iter().find(|part| rotations[**part]["phase"] != "Prepared")?;
    Some(format!(
        "cannot complete {what} if .status.credentials.rotation.{waiting}.phase is not 'Prepared'"
    ))
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
    if write.object["spec"]["maintenance"]["confineSpecUpdateRollout"] == true {
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

fn annotations(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object["metadata"]["annotations"].as_object_mut()
}
