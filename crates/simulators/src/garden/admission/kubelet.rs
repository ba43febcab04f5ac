//! The kubelet's settings that are neither plain numbers nor words: thresholds, reservations, swap.

use cluster::Cause;
use serde_json::Value;

use super::{limits, places::places, text, unsupported, version};
use crate::garden::{quantity::thousandths, version::Version};

/// Where a Shoot has settings of a kubelet: for all machines, and for those of one group.
pub(super) const PLACES: [&str; 2] =
    ["/spec/kubernetes/kubelet", "/spec/provider/workers/*/kubernetes/kubelet"];
/// What evictions look at. Gardener forgets one: `nodeFSInodesFree`.
const SIGNALS: [&str; 4] =
    ["memoryAvailable", "imageFSAvailable", "imageFSInodesFree", "nodeFSAvailable"];

/// Names what is wrong.
pub(super) fn check(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    for place in PLACES {
        for (field, kubelet) in places(shoot, place) {
            thresholds(kubelet, &field, causes);
            reservations(kubelet, &field, causes);
            images(kubelet, &field, gardener, causes);
            if gardener >= Version::V1_117 {
                newer(shoot, kubelet, &field, causes);
            }
        }
    }
}

fn thresholds(kubelet: &Value, field: &str, causes: &mut Vec<Cause>) {
    for key in ["evictionHard", "evictionSoft"] {
        for signal in SIGNALS {
            let Some(written) = kubelet[key][signal].as_str() else { continue };
            let percent = written.strip_suffix('%').and_then(|number| number.parse::<i64>().ok());
            let is_share = percent.is_some_and(|percent| (0..=100).contains(&percent));
            if is_share || thousandths(written).is_some() {
                continue;
            }
            let why = if percent.is_some() {
                "must not be greater than 100% and not smaller than 0%"
            } else {
                "field must be either a valid resource quantity (e.g 200Mi) or a percentage (e.g '5%')"
            };
            let field = limits::called(&format!("{field}.{key}.{signal}"));
            causes.push(Cause::invalid(field, written, why));
        }
    }
}

fn reservations(kubelet: &Value, field: &str, causes: &mut Vec<Cause>) {
    let resources = ["cpu", "memory", "ephemeralStorage", "pid"].as_slice();
    for (key, names) in [
        ("kubeReserved", resources),
        ("systemReserved", resources),
        ("evictionMinimumReclaim", SIGNALS.as_slice()),
    ] {
        for name in names {
            let value = &kubelet[key][*name];
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if shown.starts_with('-') {
                let field = limits::called(&format!("{field}.{key}.{name}"));
                causes.push(Cause::invalid(field, &shown, "must be greater than or equal to 0"));
            }
        }
    }
}

fn images(kubelet: &Value, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    let percent = |key: &str| kubelet[key].as_i64();
    if let (Some(low), Some(high)) =
        (percent("imageGCLowThresholdPercent"), percent("imageGCHighThresholdPercent"))
        && low >= high
    {
        let why = "imageGCLowThresholdPercent must be less than imageGCHighThresholdPercent";
        causes.push(Cause::forbidden(format!("{field}.imageGCLowThresholdPercent"), why));
    }
    if gardener < Version::V1_117 && !kubelet["imagePullProgressDeadline"].is_null() {
        let why = "can only be configured when a worker pool is configured with 'docker'";
        causes.push(Cause::forbidden(format!("{field}.imagePullProgressDeadline"), why));
    }
}

fn newer(shoot: &Value, kubelet: &Value, field: &str, causes: &mut Vec<Cause>) {
    let kubernetes = text(shoot, "/spec/kubernetes/version").and_then(version::parts);
    let at_least = |minor: u32| kubernetes.is_some_and(|version| version >= (1, minor, 0));
    if kubelet["systemReserved"].is_object() && at_least(31) {
        let why = "systemReserved is no longer supported by Gardener starting from Kubernetes 1.31";
        let field = format!("{field}.systemReserved");
        causes.push(Cause::invalid(field, &kubelet["systemReserved"].to_string(), why));
    }
    if !kubelet["memorySwap"].is_object() {
        return;
    }
    let field = format!("{field}.memorySwap");
    if kubelet["failSwapOn"] == true {
        let why = "configuring swap behaviour is not available when the kubelet is configured with 'FailSwapOn=true'";
        causes.push(Cause::forbidden(field.clone(), why));
    }
    let Some(wanted) = kubelet["memorySwap"]["swapBehavior"].as_str() else { return };
    if kubelet["featureGates"]["NodeSwap"] != true {
        let why = "configuring swap behaviour is not available when kubelet's 'NodeSwap' feature gate is not set";
        causes.push(Cause::forbidden(field.clone(), why));
    }
    let possible =
        if at_least(30) { ["NoSwap", "LimitedSwap"] } else { ["LimitedSwap", "UnlimitedSwap"] };
    if !possible.contains(&wanted) {
        causes.push(unsupported(format!("{field}.swapBehavior"), wanted, possible));
    }
}
