//! The way of an operation: how far it has come, and what it is at there.
//!
//! What is done along the way depends on the Shoot and not on the milestone, so that an operation may
//! change over to the short way, or back, when the speed of the world changes.

use std::time::Duration;

use super::{settings::Durations, shoot::Operation};

/// How far, and what comes next from there.
pub(super) type Milestone = (i64, &'static str);

/// From here on the API server of the cluster is announced.
pub(super) const ADDRESSES: i64 = 15;
/// From here on the cluster answers, or no longer does.
pub(super) const REACHABLE: i64 = 50;
/// From here on the cluster is gone.
pub(super) const REMOVED: i64 = 85;

const CREATE: [Milestone; 8] = [
    (5, "Deploying Shoot namespace in Seed, Ensuring that ShootState exists"),
    (
        ADDRESSES,
        "Deploying Kubernetes API server service in the Seed cluster, Deploying external domain DNS record",
    ),
    (30, "Waiting until shoot infrastructure has been reconciled"),
    (45, "Waiting until main and event etcd report readiness, Deploying Kubernetes API server"),
    (60, "Deploying gardener-resource-manager, Deploying Kubernetes controller manager"),
    (75, "Deploying network plugin, Deploying CoreDNS system component"),
    (90, "Waiting until shoot worker nodes have been reconciled"),
    (100, "Shoot cluster has been successfully reconciled."),
];
const RECONCILE: [Milestone; 4] = [
    (30, "Waiting until shoot infrastructure has been reconciled"),
    (REACHABLE, "Deploying Kubernetes API server, Deploying Kubernetes scheduler"),
    (80, "Configuring shoot worker pools"),
    (100, "Shoot cluster has been successfully reconciled."),
];
const DELETE: [Milestone; 6] = [
    (15, "Deleting all validating/mutating webhook configurations"),
    (30, "Cleaning kubernetes resources"),
    (
        REACHABLE,
        "Destroying Shoot network plugin, Waiting until shoot worker nodes have been terminated",
    ),
    (70, "Destroying Kubernetes API server, Destroying main and events etcd"),
    (REMOVED, "Destroying shoot infrastructure, Deleting external domain DNS record"),
    (100, "Shoot cluster has been successfully deleted."),
];
/// The short ways, for a world without delays.
const CREATE_AT_ONCE: [Milestone; 2] = [CREATE[1], CREATE[7]];
const RECONCILE_AT_ONCE: [Milestone; 1] = [RECONCILE[3]];
const DELETE_AT_ONCE: [Milestone; 1] = [DELETE[5]];

/// What an operation says when it begins.
pub(super) fn beginning(operation: Operation) -> &'static str {
    match operation {
        Operation::Create | Operation::Reconcile => "Reconciliation of Shoot cluster initialized.",
        Operation::Delete => "Deletion of Shoot cluster in progress.",
    }
}

/// The milestone after `progress`; the last one is always 100.
pub(super) fn after(operation: Operation, progress: i64, at_once: bool) -> Milestone {
    let way = way(operation, at_once);
    let next = way.iter().find(|(percent, _)| *percent > progress);
    next.or(way.last()).copied().unwrap_or((100, ""))
}

/// How long one stretch of the way takes.
pub(super) fn stretch(operation: Operation, durations: &Durations) -> Duration {
    let whole = match operation {
        Operation::Create => durations.create,
        Operation::Reconcile => durations.reconcile,
        Operation::Delete => durations.delete,
    };
    whole / u32::try_from(way(operation, false).len()).unwrap_or(1)
}

fn way(operation: Operation, at_once: bool) -> &'static [Milestone] {
    match (operation, at_once) {
        (Operation::Create, false) => &CREATE,
        (Operation::Create, true) => &CREATE_AT_ONCE,
        (Operation::Reconcile, false) => &RECONCILE,
        (Operation::Reconcile, true) => &RECONCILE_AT_ONCE,
        (Operation::Delete, false) => &DELETE,
        (Operation::Delete, true) => &DELETE_AT_ONCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_goes_up_to_a_hundred_from_wherever_one_is() {
        for operation in [Operation::Create, Operation::Reconcile, Operation::Delete] {
            for at_once in [false, true] {
                let mut progress = 0;
                while progress < 100 {
                    let (next, _) = after(operation, progress, at_once);
                    assert!(next > progress, "{operation:?} stands still at {progress}");
                    progress = next;
                }
                assert_eq!(after(operation, 97, at_once).0, 100);
            }
        }
    }
}
