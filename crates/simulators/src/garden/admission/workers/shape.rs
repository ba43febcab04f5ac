//! One group of machines by itself: its name, its numbers, its disk and its taints.

use cluster::Cause;
use serde_json::Value;

use super::super::{list, meta, text, unsupported};
use crate::garden::version::Version;

/// How long the name may be.
const LONGEST: usize = 15;

/// Names what is wrong with it. `minor` is that of its Kubernetes.
pub(super) fn check(
    worker: &Value,
    field: &str,
    gardener: Version,
    minor: Option<u32>,
    causes: &mut Vec<Cause>,
) {
    name(text(worker, "/name").unwrap_or_default(), field, gardener, causes);
    numbers(worker, field, causes);
    for key in ["maxSurge", "maxUnavailable"] {
        rolling(&worker[key], &format!("{field}.{key}"), key, causes);
    }
    let whole = |key: &str| worker.get(key).is_none_or(|value| *value == 0 || *value == "0%");
    if worker.get("maxSurge").is_some() && whole("maxSurge") && whole("maxUnavailable") {
        let why = "may not be 0 when `maxSurge` is 0";
        causes.push(Cause::invalid(format!("{field}.maxUnavailable"), "0", why));
    }
    meta::labels(&worker["labels"], &format!("{field}.labels"), causes);
    meta::annotations(&worker["annotations"], &format!("{field}.annotations"), causes);
    taints(worker, field, causes);
    if let Some(bundle) =
        worker["caBundle"].as_str().filter(|text| !text.contains("-----BEGIN CERTIFICATE-----"))
    {
        let why = "caBundle is not a valid PEM-encoded certificate";
        causes.push(Cause::invalid(format!("{field}.caBundle"), bundle, why));
    }
    volumes(worker, field, gardener, causes);
    runtime(worker, field, gardener, minor, causes);
    if let Some(strategy) = worker["updateStrategy"].as_str().filter(|it| !STRATEGIES.contains(it))
    {
        causes.push(unsupported(format!("{field}.updateStrategy"), strategy, STRATEGIES));
    }
}

/// How machines are replaced.
const STRATEGIES: [&str; 3] = ["AutoInPlaceUpdate", "AutoRollingUpdate", "ManualInPlaceUpdate"];

/// The disk of a machine, and those that it has besides.
fn volumes(worker: &Value, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    let mut size = |field: String, volume: &Value, word: &str| {
        let size = text(volume, "/size").unwrap_or_default();
        let digits = size.strip_suffix("Gi").unwrap_or_default();
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
            let why = format!(r"{word} size must match the regex ^(\d)+Gi$");
            causes.push(Cause::invalid(format!("{field}.size"), size, &why));
        }
    };
    let more = list(worker, "/dataVolumes");
    if worker["volume"].is_object() {
        size(format!("{field}.volume"), &worker["volume"], "volume");
    }
    for (place, volume) in more.iter().enumerate() {
        size(format!("{field}.dataVolumes[{place}]"), volume, "data volume");
    }
    if !more.is_empty() && !worker["volume"].is_object() {
        let why = "a worker volume must be defined if data volumes are defined";
        causes.push(Cause::required(format!("{field}.volume"), why));
    }
    for (place, volume) in more.iter().enumerate() {
        let at = format!("{field}.dataVolumes[{place}]");
        match text(volume, "/name") {
            None => causes.push(Cause::required(format!("{at}.name"), "must specify a name")),
            Some(own) => name(own, &at, gardener, causes),
        }
        if more[..place].iter().any(|other| other["name"] == volume["name"]) {
            causes.push(super::duplicate(format!("{at}.name"), &volume["name"]));
        }
    }
    if let Some(wanted) = worker["kubeletDataVolumeName"].as_str()
        && more.iter().all(|volume| volume["name"] != wanted)
    {
        let why = format!("KubeletDataVolumeName refers to unrecognized data volume {wanted}");
        causes.push(Cause::invalid(format!("{field}.kubeletDataVolumeName"), wanted, &why));
    }
}

/// What runs the containers.
fn runtime(
    worker: &Value,
    field: &str,
    gardener: Version,
    minor: Option<u32>,
    causes: &mut Vec<Cause>,
) {
    if !worker["cri"].is_object() {
        return;
    }
    let (older, name) = (gardener < Version::V1_117, text(worker, "/cri/name").unwrap_or_default());
    if older && name == "docker" && minor.is_none_or(|minor| minor >= 23) {
        let why = "'docker' is only allowed for kubernetes versions < 1.23";
        causes.push(Cause::forbidden(format!("{field}.cri.name"), why));
    }
    let possible = if older { ["containerd", "docker"].as_slice() } else { &["containerd"] };
    if !possible.contains(&name) {
        causes.push(unsupported(format!("{field}.cri.name"), name, possible.iter().copied()));
    }
    let more = list(worker, "/cri/containerRuntimes");
    for (place, one) in more.iter().enumerate() {
        let at = format!("{field}.cri.containerruntimes[{place}].type");
        if text(one, "/type").is_none() {
            causes.push(Cause::required(at.clone(), "must specify a container runtime type"));
        }
        if more[..place].iter().any(|other| other["type"] == one["type"]) {
            causes.push(super::duplicate(at, &one["type"]));
        }
    }
}

/// Whether nothing ordinary may run on it, which matters to older Gardeners.
pub(super) fn is_tainted(worker: &Value) -> bool {
    list(worker, "/taints").iter().any(|taint| taint["effect"] != "PreferNoSchedule")
}

fn name(name: &str, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    let field = format!("{field}.name");
    if !meta::is_label(name) {
        causes.push(Cause::invalid(field.clone(), name, meta::LABEL));
    }
    if name.len() > LONGEST {
        let most =
            if gardener < Version::V1_117 { "must have at most" } else { "may not be more than" };
        let message = format!("Too long: {most} {LONGEST} bytes");
        causes.push(Cause { reason: "FieldValueTooLong", field, message });
    }
}

fn numbers(worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let number = |key: &str| worker[key].as_i64().unwrap_or(0);
    let (minimum, maximum) = (number("minimum"), number("maximum"));
    for (key, value) in [("minimum", minimum), ("maximum", maximum)] {
        if value < 0 {
            let why = format!("{key} value must not be negative");
            causes.push(Cause::invalid(format!("{field}.{key}"), &value.to_string(), &why));
        }
    }
    if maximum < minimum {
        let why = "maximum value must not be less than minimum value";
        causes.push(Cause::forbidden(format!("{field}.maximum"), why));
    }
}

/// A number that is not negative, or a percentage.
fn rolling(value: &Value, field: &str, key: &str, causes: &mut Vec<Cause>) {
    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<u32>().ok());
    let why = match value {
        Value::Number(number) if number.as_i64().is_some_and(|number| number < 0) => {
            "must be greater than or equal to 0"
        }
        Value::String(_) if percent.is_none() => "must be an integer or percentage (e.g '5%')",
        Value::String(_) if key == "maxUnavailable" && percent > Some(100) => {
            "must not be greater than 100%"
        }
        _ => return,
    };
    causes.push(Cause::invalid(field, &shown, why));
}

fn taints(worker: &Value, field: &str, causes: &mut Vec<Cause>) {
    let possible = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let taints = list(worker, "/taints");
    for (place, taint) in taints.iter().enumerate() {
        let at = format!("{field}.taints[{place}]");
        let word = |key: &str| taint[key].as_str().unwrap_or_default();
        let wrong = meta::key(word("key")).into_iter();
        causes.extend(wrong.map(|why| Cause::invalid(format!("{at}.key"), word("key"), why)));
        if word("key") == RESERVED {
            let why = "taint key is reserved by gardener";
            causes.push(Cause::forbidden(format!("{at}.key"), why));
        }
        let wrong = meta::value(word("value"));
        causes.extend(wrong.map(|why| Cause::invalid(format!("{at}.value"), word("value"), why)));
        match word("effect") {
            "" => causes.push(Cause::required(format!("{at}.effect"), "")),
            effect if !possible.contains(&effect) => {
                causes.push(unsupported(format!("{at}.effect"), effect, possible));
            }
            _ => {}
        }
        let same =
            |other: &Value| other["key"] == taint["key"] && other["effect"] == taint["effect"];
        if taints[..place].iter().any(same) {
            causes.push(super::duplicate(at, taint));
        }
    }
}

/// Gardener's own taint, on nodes that are not ready.
const RESERVED: &str = "node.gardener.cloud/critical-components-not-ready";
