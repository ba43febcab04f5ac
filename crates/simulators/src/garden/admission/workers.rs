//! Groups of machines: sane numbers, and machines, disks, images and zones that the profile offers.

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{list, profile, text, unsupported};

const WORKERS: &str = "spec.provider.workers";

/// Names what is wrong with them.
pub(super) fn check(write: &Admission<'_>, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    let workers = list(shoot, "/spec/provider/workers");
    if workers.is_empty() {
        causes.push(Cause::required(WORKERS, "must at least specify one worker pool"));
    }
    let profile = profile::of(write);
    for (place, worker) in workers.iter().enumerate() {
        let field = format!("{WORKERS}[{place}]");
        numbers(worker, &field, causes);
        let twice = workers[..place].iter().any(|other| other["name"] == worker["name"]);
        if twice {
            let cause = Cause {
                reason: "FieldValueDuplicate",
                field: format!("{field}.name"),
                message: format!("Duplicate value: {}", worker["name"]),
            };
            causes.push(cause);
        }
        if let Some(profile) = &profile {
            offered(profile, shoot, worker, &field, causes);
        }
    }
    if let Some(profile) = &profile {
        total(profile, workers, causes);
    }
}

fn numbers(worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    if text(worker, "/name").is_none() {
        causes.push(Cause::required(format!("{field}.name"), "must be set"));
    }
    let number = |key: &str| worker[key].as_i64();
    let (minimum, maximum) = (number("minimum").unwrap_or(0), number("maximum").unwrap_or(0));
    for (key, value) in [("minimum", minimum), ("maximum", maximum)] {
        if value < 0 {
            let why = "must be greater than or equal to 0";
            causes.push(Cause::invalid(format!("{field}.{key}"), &value.to_string(), why));
        }
    }
    if maximum < minimum {
        let why = "minimum value must be less or equal than maximum value";
        causes.push(Cause::forbidden(format!("{field}.maximum"), why));
    }
    let whole = |key: &str| worker.get(key).is_none_or(|value| *value == 0 || *value == "0%");
    if worker.get("maxSurge").is_some() && whole("maxSurge") && whole("maxUnavailable") {
        let why = "may not be 0 when maxSurge is 0";
        causes.push(Cause::invalid(format!("{field}.maxUnavailable"), "0", why));
    }
}

fn offered(profile: &Value, shoot: &Value, worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let names = |path: &str| -> Vec<&str> {
        let usable = list(profile, path).iter().filter(|one| one["usable"] != false);
        usable.filter_map(|one| one["name"].as_str()).collect()
    };
    let mut one_of = |field: String, value: Option<&str>, possible: Vec<&str>| match value {
        Some(value) if !possible.contains(&value) => {
            causes.push(unsupported(field, value, possible));
        }
        _ => {}
    };
    let machine = text(worker, "/machine/type").unwrap_or_default();
    one_of(format!("{field}.machine.type"), Some(machine), names("/spec/machineTypes"));
    let volume = text(worker, "/volume/type");
    one_of(format!("{field}.volume.type"), volume, names("/spec/volumeTypes"));
    let zones = profile::zones(profile, shoot);
    for (place, zone) in list(worker, "/zones").iter().enumerate() {
        // An unknown region has been named already.
        if !zones.is_empty() {
            one_of(format!("{field}.zones[{place}]"), zone.as_str(), zones.clone());
        }
    }
    let image = text(worker, "/machine/image/name");
    one_of(format!("{field}.machine.image.name"), image, names("/spec/machineImages"));
    let images = list(profile, "/spec/machineImages").iter();
    let versions: Vec<&str> = images
        .filter(|one| one["name"].as_str() == image)
        .flat_map(|one| list(one, "/versions"))
        .filter_map(|version| version["version"].as_str())
        .collect();
    if !versions.is_empty() {
        let version = text(worker, "/machine/image/version");
        one_of(format!("{field}.machine.image.version"), version, versions);
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
                "the maximum node count of a worker pool must not exceed the limit of {limit} total nodes configured in the cloud profile"
            );
            let field = format!("{WORKERS}[{place}].maximum");
            causes.push(Cause::invalid(field, &maximum.to_string(), &why));
        }
    }
    if sum("minimum") > limit {
        let why = format!(
            "the total minimum node count of all worker pools must not exceed the limit of {limit} total nodes configured in the cloud profile"
        );
        causes.push(Cause::forbidden(WORKERS, &why));
    }
}
