//! `shoot.gardener.cloud/tasks`: what the gardenlet has to deploy anew besides the usual. The controller takes the
//! annotation away when the operation has succeeded.

use cluster::Admission;
use serde_json::{Value, json};

use super::{annotation, status};
use crate::garden::{OPERATION, TASKS};

const INFRASTRUCTURE: &str = "deployInfrastructure";
const DNS: [&str; 3] =
    ["deployDNSRecordInternal", "deployDNSRecordExternal", "deployDNSRecordIngress"];
/// Operations that change what is deployed for the machines.
const ROTATIONS: [&str; 3] = [
    "rotate-ssh-keypair",
    "rotate-credentials-start",
    "rotate-credentials-start-without-workers-rollout",
];

/// Adds the tasks that follow from a change.
pub(super) fn add(write: &mut Admission<'_>) {
    let mut tasks: Vec<&str> = Vec::new();
    let rotates = annotation(write.object, OPERATION).is_some_and(|word| ROTATIONS.contains(&word));
    match write.old {
        None => tasks.extend([INFRASTRUCTURE].into_iter().chain(DNS)),
        Some(old) => {
            let object = &*write.object;
            let differ = |path: &str| old.pointer(path) != object.pointer(path);
            let infrastructure = status::rewritten(old, object, &["infrastructureConfig"])
                || differ("/spec/provider/workersSettings/sshAccess/enabled");
            tasks.extend((infrastructure || rotates).then_some(INFRASTRUCTURE));
            tasks.extend(DNS.into_iter().filter(|_| differ("/spec/dns")));
        }
    }
    if tasks.is_empty() {
        return;
    }
    let mut all: Vec<&str> =
        annotation(write.object, TASKS).unwrap_or_default().split(',').collect();
    all.retain(|task| !task.is_empty() && !tasks.contains(task));
    all.extend(tasks);
    let all = json!(all.join(","));
    let metadata = &mut write.object["metadata"];
    if matches!(metadata["annotations"], Value::Object(_) | Value::Null) {
        metadata["annotations"][TASKS] = all;
    }
}
