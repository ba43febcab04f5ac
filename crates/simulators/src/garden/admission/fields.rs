//! Static rules for single fields: what they may say, whatever the profile offers.

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{meta, name, text, unsupported, version};
use crate::garden::{settings::Settings, version::Version};

/// Fields with a few possible words: path, words.
const WORDS: &[(&str, &[&str])] = &[
    ("/spec/purpose", &["development", "evaluation", "production", "testing"]),
    ("/spec/controlPlane/highAvailability/failureTolerance/type", &["node", "zone"]),
    ("/spec/kubernetes/kubeProxy/mode", &["IPTables", "IPVS"]),
    ("/spec/kubernetes/kubeScheduler/profile", &["balanced", "bin-packing"]),
];
/// How the autoscaler chooses the group that grows.
const EXPANDERS: [&str; 4] = ["least-waste", "most-pods", "priority", "random"];
/// Addons, the field in each that has a few possible words, and these; nothing is asked of an addon that is off.
const ADDONS: [(&str, &str, [&str; 2]); 2] = [
    ("kubernetesDashboard", "authenticationMode", ["basic", "token"]),
    ("nginxIngress", "externalTrafficPolicy", ["Cluster", "Local"]),
];
/// Whether the API server takes passwords, which Kubernetes does not since 1.19.
pub(super) const PASSWORDS: &str = "/spec/kubernetes/kubeAPIServer/enableBasicAuthentication";
/// The shortest and the longest maintenance window, in seconds.
const WINDOW: (i64, i64) = (30 * 60, 6 * 3_600);
const DAY: i64 = 24 * 3_600;

/// Names what is wrong.
pub(super) fn check(write: &Admission<'_>, settings: &Settings, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    if text(shoot, "/spec/region").is_none() {
        causes.push(Cause::required("spec.region", "must specify a region"));
    }
    words(shoot, settings.version, causes);
    mask(shoot, causes);
    addons(shoot, settings.version, causes);
    window(shoot, causes);
    domain(shoot, settings, causes);
    kubernetes(shoot, settings.version, causes);
}

fn field(path: &str) -> String {
    path.trim_start_matches('/').replace('/', ".")
}

fn words(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    for (path, possible) in WORDS {
        if let Some(value) = shoot.pointer(path).and_then(Value::as_str)
            && !possible.contains(&value)
        {
            causes.push(unsupported(field(path), value, possible.iter().copied()));
        }
    }
    let spread = shoot.pointer("/spec/controlPlane/highAvailability");
    if spread.is_some_and(|it| it.is_object() && it["failureTolerance"]["type"].is_null()) {
        let at = "spec.controlPlane.highAvailability.failureTolerance.type";
        causes.push(unsupported(at, "", ["node", "zone"]));
    }
    let expander = "/spec/kubernetes/clusterAutoscaler/expander";
    if let Some(wanted) = shoot.pointer(expander).and_then(Value::as_str) {
        // Newer ones take several, one for the ties of the other.
        let mut each = wanted.split(if gardener < Version::V1_117 { '\0' } else { ',' });
        if each.any(|one| !EXPANDERS.contains(&one)) {
            causes.push(unsupported(field(expander), wanted, EXPANDERS));
        }
    }
}

/// Every node has a part of the range of Pods, which must hold as many as there may be on it.
fn mask(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize";
    let Some(size) = shoot.pointer(path).and_then(Value::as_i64) else { return };
    if shoot["spec"]["networking"]["ipFamilies"] != serde_json::json!(["IPv4"]) {
        return;
    }
    let most = super::defaults::most_pods(shoot);
    let most = if most == 0 { super::defaults::PODS } else { most };
    let room = 2_i64.pow(u32::try_from(32 - size.clamp(1, 32)).unwrap_or(0)) - 2;
    if room < most {
        let why = format!(
            "kubelet or kube-controller-manager configuration incorrect. Please adjust the nodeCIDRMaskSize to support the \
             highest maxPod on any worker pool. The nodeCIDRMaskSize of {size} (default: 24) only supports {room} IP \
             addresses. The highest maxPod setting is {most} (default: 110)"
        );
        causes.push(Cause::invalid(field(path), &size.to_string(), &why));
    }
    if !(16..=28).contains(&size) {
        let why = "nodeCIDRMaskSize must be between 16 and 28";
        causes.push(Cause::invalid(field(path), &size.to_string(), why));
    }
}

/// Addons are for trying things out; older Gardeners say so from Kubernetes 1.22 on.
fn addons(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let older = gardener < Version::V1_117;
    let is_free = older && minor(shoot).is_some_and(|minor| minor < 22);
    let enabled = ["kubernetesDashboard", "nginxIngress"]
        .iter()
        .any(|name| shoot["spec"]["addons"][*name]["enabled"] == true);
    if enabled && !is_free && shoot["spec"]["purpose"] != "evaluation" {
        let since = if older { "for Kubernetes versions >= 1.22 " } else { "" };
        let why =
            format!("{since}addons can only be enabled on shoots with .spec.purpose=evaluation");
        causes.push(Cause::forbidden("spec.addons", &why));
    }
    for (addon, key, words) in ADDONS {
        let own = &shoot["spec"]["addons"][addon];
        // Logging in with a password needs the API server to take it, which newer ones do not.
        let lacks_passwords = addon == "kubernetesDashboard"
            && !(older && shoot.pointer(PASSWORDS) == Some(&Value::Bool(true)));
        let possible = if lacks_passwords { &words[1..] } else { &words };
        if let Some(wanted) = own[key].as_str().filter(|_| own["enabled"] == true)
            && !possible.contains(&wanted)
        {
            causes.push(unsupported(format!("spec.addons.{addon}.{key}"), wanted, words));
        }
    }
}

/// The maintenance window is half an hour to six hours long.
fn window(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/maintenance/timeWindow";
    let Some(window) = shoot.pointer(path).filter(|window| window.is_object()) else { return };
    let written = |key: &str| text(window, &format!("/{key}")).unwrap_or_default();
    let (Some(begin), Some(end)) = (seconds(written("begin")), seconds(written("end"))) else {
        let key = if seconds(written("begin")).is_none() { "begin" } else { "end" };
        let shown = format!(
            "core.MaintenanceTimeWindow{{Begin:{:?}, End:{:?}}}",
            written("begin"),
            written("end")
        );
        let why = format!(
            "could not parse {key} time: could not parse the value into the maintenanceTime format: {:?}",
            written(key)
        );
        causes.push(Cause::invalid(format!("{}.begin/end", field(path)), &shown, &why));
        return;
    };
    let length = match (end - begin).rem_euclid(DAY) {
        0 => DAY,
        length => length,
    };
    let (least, most) = WINDOW;
    if !(least..=most).contains(&length) {
        let why = if length < least {
            "time window must not be smaller than 30m0s"
        } else {
            "time window must not be greater than 6h0m0s"
        };
        let shown = format!("{}h{}m{}s", length / 3_600, length / 60 % 60, length % 60);
        causes.push(Cause::invalid(field(path), &shown, why));
    }
}

/// The second of the day in UTC of a time such as `220000+0100`.
fn seconds(written: &str) -> Option<i64> {
    let (time, zone) = written.split_at_checked(6)?;
    let sign = match zone.split_at_checked(1)?.0 {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let number =
        |text: &str, most: i64| text.parse::<i64>().ok().filter(|it| (0..=most).contains(it));
    let digits = |text: &str| text.chars().all(|digit| digit.is_ascii_digit());
    if zone.len() != 5 || !digits(time) || !digits(&zone[1..]) {
        return None;
    }
    let at =
        number(&time[..2], 23)? * 3_600 + number(&time[2..4], 59)? * 60 + number(&time[4..], 59)?;
    Some(at - sign * (number(&zone[1..3], 23)? * 3_600 + number(&zone[3..], 59)? * 60))
}

fn domain(shoot: &Value, settings: &Settings, causes: &mut Vec<Cause>) {
    let Some(domain) = shoot.pointer("/spec/dns/domain").and_then(Value::as_str) else { return };
    let wrong = meta::subdomain(domain);
    causes.extend(wrong.map(|why| Cause::invalid("spec.dns.domain", domain, why)));
    let own = settings.domain_of(name(shoot));
    if domain.ends_with(&format!(".{}", settings.domain)) && domain != own {
        let why = "shoot uses a default domain but does not match expected scheme: \
                   <shoot-name>.<project-name>.<default-domain>";
        causes.push(Cause::invalid("spec.dns", name(shoot), why));
    }
}

/// The minor version of its Kubernetes.
fn minor(shoot: &Value) -> Option<u32> {
    text(shoot, "/spec/kubernetes/version").and_then(version::parts).map(|it| it.1)
}

fn kubernetes(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let minor = minor(shoot);
    let is = |path: &str| shoot.pointer(path) == Some(&Value::Bool(true));
    let set = |path: &str| shoot.pointer(path).is_some_and(|value| !value.is_null());
    if gardener < Version::V1_117 && is(PASSWORDS) {
        let why = "basic authentication has been removed in Kubernetes v1.19+";
        causes.push(Cause::forbidden(field(PASSWORDS), why));
    }
    let privileged = "/spec/kubernetes/allowPrivilegedContainers";
    if set(privileged) && minor.is_some_and(|minor| minor >= 25) {
        let why =
            "for Kubernetes versions >= 1.25, allowPrivilegedContainers field should not be set";
        causes.push(Cause::forbidden(field(privileged), why));
    }
    let token = "/spec/kubernetes/enableStaticTokenKubeconfig";
    if gardener >= Version::V1_117 && is(token) {
        let why = "setting this field to true is not supported";
        causes.push(Cause::invalid(field(token), "true", why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_zone() {
        assert_eq!(seconds("220000+0000"), Some(22 * 3_600));
        assert_eq!(seconds("010000+0100"), Some(0));
        assert_eq!(seconds("233000-0030"), Some(DAY));
        for wrong in ["", "220000", "foo", "250000+0000", "220000+00", "2200000000"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
