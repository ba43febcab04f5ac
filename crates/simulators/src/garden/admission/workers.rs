//! Groups of machines: sane numbers, and machines, disks, images and zones that the profile offers.

mod machine;
mod shape;

use std::collections::BTreeSet;

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{list, profile, text, unsupported};
use crate::garden::version::Version;

const WORKERS: &str = "spec.provider.workers";

/// Names machines, disks, images and zones that the profile does not offer. Only what changes is compared with it: a
/// profile may have moved on since.
pub(super) fn offered_only(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let Some(profile) = profile::of(write) else { return };
    let workers = list(shoot, "/spec/provider/workers");
    for (place, worker) in workers.iter().enumerate() {
        let field = format!("{WORKERS}[{place}]");
        let before = write.old.and_then(|old| {
            let mut pools = list(old, "/spec/provider/workers").iter();
            pools.find(|one| one["name"] == worker["name"])
        });
        let same_region =
            write.old.is_some_and(|old| old["spec"]["region"] == shoot["spec"]["region"]);
        processor(worker, &field, causes);
        if before.is_none_or(|before| before["volume"]["type"] != worker["volume"]["type"]) {
            disk(&profile, worker, &field, causes);
        }
        if !same_region || before.is_none_or(|before| before["zones"] != worker["zones"]) {
            zones(&profile, shoot, worker, &field, causes);
        }
        let offer = machine::Offer { profile: &profile, gardener, now: write.now };
        offer.check(worker, before, &field, causes);
    }
    super::version::of_machines(write, gardener, &profile, causes);
    if gardener >= Version::V1_117 {
        total(&profile, workers, causes);
    }
}

/// Names what is wrong with their numbers and names.
pub(super) fn check(write: &Admission<'_>, gardener: Version, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let workers = list(shoot, "/spec/provider/workers");
    for (place, worker) in workers.iter().enumerate() {
        let field = format!("{WORKERS}[{place}]");
        let own = text(worker, "/kubernetes/version");
        let kubernetes = own.or_else(|| text(shoot, "/spec/kubernetes/version"));
        let minor = kubernetes.and_then(super::version::parts).map(|it| it.1);
        shape::check(worker, &field, gardener, minor, causes);
        version(shoot, worker, &field, gardener, causes);
        let twice = workers[..place].iter().any(|other| other["name"] == worker["name"]);
        if twice {
            causes.push(duplicate(format!("{field}.name"), &worker["name"]));
        }
    }
    if gardener < Version::V1_117 {
        active(workers, causes);
    } else if workers.is_empty() {
        workerless(write, causes);
    } else {
        for_system(workers, causes);
    }
    if gardener < Version::V1_117 && write.old.is_none() {
        room(shoot, workers, causes);
    }
}

/// Older Gardeners want one group that is in use, one that anything may run on, and one that is both and takes what
/// Gardener itself deploys.
fn active(workers: &[Value], causes: &mut Vec<Cause>) {
    let is_active = |worker: &&Value| {
        let some = |key: &str| worker[key].as_i64().unwrap_or(0) != 0;
        some("minimum") && some("maximum")
    };
    let takes_system =
        |worker: &&Value| is_active(worker) && !shape::is_tainted(worker) && is_for_system(worker);
    let mut forbidden = |why: &str| causes.push(Cause::forbidden(WORKERS, why));
    if !workers.iter().any(|worker| is_active(&worker)) {
        forbidden("at least one worker pool with min>0 and max> 0 needed");
    }
    if !workers.is_empty() && workers.iter().all(shape::is_tainted) {
        forbidden(
            "at least one worker pool must exist having either no taints or only the \"PreferNoSchedule\" taint",
        );
    }
    if !workers.iter().any(|worker| takes_system(&worker)) {
        forbidden("at least one active worker pool with allowSystemComponents=true needed");
    }
}

/// Newer ones want a group for it that may have machines, and in every zone of such a group one.
fn for_system(workers: &[Value], causes: &mut Vec<Cause>) {
    let zones = |worker: &Value| -> BTreeSet<String> {
        list(worker, "/zones").iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let most = |worker: &Value| worker["maximum"].as_i64().unwrap_or(0);
    let is_enough = |worker: &Value| {
        usize::try_from(most(worker)).is_ok_and(|most| most >= list(worker, "/zones").len())
    };
    let for_system: Vec<(usize, &Value)> = workers
        .iter()
        .enumerate()
        .filter(|(_, worker)| is_for_system(worker) && most(worker) != 0)
        .collect();
    for (place, worker) in &for_system {
        let helped =
            |(_, other): &(usize, &Value)| is_enough(other) && zones(other) == zones(worker);
        if !is_enough(worker) && !for_system.iter().any(helped) {
            let why = "maximum node count should be greater than or equal to the number of zones specified for this pool";
            causes.push(Cause::forbidden(format!("{WORKERS}[{place}].maximum"), why));
        }
    }
    if for_system.is_empty() {
        let why = "at least one active (workers[i].maximum > 0) worker pool with systemComponents.allow=true needed";
        causes.push(Cause::forbidden(WORKERS, why));
    }
}

fn is_for_system(worker: &Value) -> bool {
    worker["systemComponents"]["allow"] != false
}

/// The machines' version of Kubernetes: never above that of the control plane, and not far behind it.
fn version(shoot: &Value, worker: &Value, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    let minor = |of: &Value, path: &str| text(of, path).and_then(super::version::parts);
    let (Some(own), Some(whole)) =
        (minor(worker, "/kubernetes/version"), minor(shoot, "/spec/kubernetes/version"))
    else {
        return;
    };
    let three = gardener >= Version::V1_117 && whole.1 >= 28;
    let (behind, words) = if three { (3, "three") } else { (2, "two") };
    let why = if own > whole {
        "worker group kubernetes version must not be higher than control plane version".to_owned()
    } else if own.1 + behind < whole.1 {
        format!(
            "worker group kubernetes version must be at most {words} minor versions behind control plane version"
        )
    } else {
        return;
    };
    causes.push(Cause::forbidden(format!("{field}.kubernetes.version"), &why));
}

/// A Shoot without workers has nothing that belongs to workers.
fn workerless(write: &Admission<'_>, causes: &mut Vec<Cause>) {
    if write.old.is_some_and(|old| !list(old, "/spec/provider/workers").is_empty()) {
        let why = "cannot switch from a Shoot with workers to a workerless Shoot";
        causes.push(Cause::forbidden("spec.provider.workers", why));
        return;
    }
    for key in [
        "provider.infrastructureConfig",
        "provider.controlPlaneConfig",
        "provider.workersSettings",
        "addons",
        "kubernetes.kubeControllerManager.nodeCIDRMaskSize",
        "kubernetes.kubeControllerManager.horizontalPodAutoscaler",
        "kubernetes.kubeControllerManager.podEvictionTimeout",
        "kubernetes.kubeControllerManager.nodeMonitorGracePeriod",
        "kubernetes.kubeScheduler",
        "kubernetes.kubeProxy",
        "kubernetes.kubelet",
        "kubernetes.clusterAutoscaler",
        "kubernetes.verticalPodAutoscaler",
        "networking.type",
        "networking.providerConfig",
        "networking.pods",
        "networking.nodes",
        "maintenance.autoUpdate.machineImageVersion",
        "secretBindingName",
        "credentialsBindingName",
        "systemComponents",
    ] {
        let path = format!("/spec/{}", key.replace('.', "/"));
        if write.object.pointer(&path).is_some_and(|value| !value.is_null()) {
            let why = "this field should not be set for workerless Shoot clusters";
            causes.push(Cause::forbidden(format!("spec.{key}"), why));
        }
    }
}

/// The range of Pods must hold all nodes that there may be.
fn room(shoot: &Value, workers: &[Value], causes: &mut Vec<Cause>) {
    let prefix = text(shoot, "/spec/networking/pods").and_then(|pods| pods.split_once('/'));
    let prefix = prefix.and_then(|(_, length)| length.parse::<u32>().ok());
    let path = "/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize";
    let mask =
        shoot.pointer(path).and_then(Value::as_u64).and_then(|mask| u32::try_from(mask).ok());
    let (Some(prefix), Some(mask)) = (prefix, mask) else { return };
    let most = 1_i64 << mask.saturating_sub(prefix).min(32);
    let all: i64 = workers.iter().filter_map(|worker| worker["maximum"].as_i64()).sum();
    if all > most {
        let why = format!(
            "worker configuration incorrect. The podCIDRs in `spec.networking.pod` can only support a maximum of {most} \
             nodes. The total number of worker pool nodes should be less than {most} "
        );
        causes.push(Cause::invalid(WORKERS, &all.to_string(), &why));
    }
}

fn duplicate(field: String, value: &Value) -> Cause {
    Cause { reason: "FieldValueDuplicate", field, message: format!("Duplicate value: {value}") }
}

fn one_of(field: String, value: Option<&str>, possible: &[&str], causes: &mut Vec<Cause>) {
    if let Some(value) = value.filter(|value| !possible.contains(value)) {
        causes.push(unsupported(field, value, possible.iter().copied()));
    }
}

fn processor(worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let architecture = worker["machine"]["architecture"].as_str().unwrap_or("amd64");
    let field = format!("{field}.machine.architecture");
    one_of(field, Some(architecture), &["amd64", "arm64"], causes);
}

fn disk(profile: &Value, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let types = list(profile, "/spec/volumeTypes").iter().filter(|one| one["usable"] != false);
    let types: Vec<&str> = types.filter_map(|one| one["name"].as_str()).collect();
    one_of(format!("{field}.volume.type"), text(worker, "/volume/type"), &types, causes);
}

fn zones(profile: &Value, shoot: &Value, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let zones = profile::zones(profile, shoot);
    let wanted = list(worker, "/zones");
    for (place, zone) in wanted.iter().enumerate().filter(|_| !zones.is_empty()) {
        one_of(format!("{field}.zones[{place}]"), zone.as_str(), &zones, causes);
    }
    for (place, zone) in wanted.iter().enumerate() {
        let at = format!("{field}.zones[{place}]");
        if zones.is_empty() {
            let region = text(shoot, "/spec/region").unwrap_or_default();
            let why =
                "this region does not support availability zones, please do not configure them";
            causes.push(Cause::invalid(at, region, why));
        } else if wanted[..place].contains(zone) {
            causes.push(duplicate(at, zone));
        }
    }
}

fn total(profile: &Value, workers: &[Value], causes: &mut Vec<Cause>) {
    let Some(limit) = profile.pointer("/spec/limits/maxNodesTotal").and_then(Value::as_i64) else {
        return;
    };
    let sum = |key: &str| workers.iter().filter_map(|worker| worker[key].as_i64()).sum::<i64>();
    for (place, worker) in workers.iter().enumerate() {
        let maximum = worker["maximum"].as_i64().unwrap_or(0);
        if maximum > limit {
            let why = format!(
                "the maximum node count of a worker pool must not exceed the limit of {limit} configured in the CloudProfile"
            );
            let field = format!("{WORKERS}[{place}].maximum");
            causes.push(Cause::forbidden(field, &why));
        }
    }
    if sum("minimum") > limit {
        let why = format!(
            "the total minimum node count of all worker pools must not exceed the limit of {limit} total nodes configured in the cloud profile"
        );
        causes.push(Cause::forbidden(WORKERS, &why));
    }
}
