//! Static rules for single fields: what they may say, whatever the profile offers.

use cluster::{Admission, Cause};
use serde_json::Value;

use super::{list, name, text, unsupported, version};
use crate::garden::{settings::Settings, version::Version};

/// Fields with a few possible words: path, words.
const WORDS: &[(&str, &[&str])] = &[
    ("/spec/purpose", &["development", "evaluation", "production", "testing"]),
    ("/spec/controlPlane/highAvailability/failureTolerance/type", &["node", "zone"]),
    ("/spec/addons/kubernetesDashboard/authenticationMode", &["basic", "token"]),
    ("/spec/kubernetes/kubeProxy/mode", &["IPTables", "IPVS"]),
    (
        "/spec/kubernetes/clusterAutoscaler/expander",
        &["least-waste", "most-pods", "priority", "random"],
    ),
];
/// The shortest and the longest maintenance window, in minutes.
const WINDOW: (i64, i64) = (30, 360);
const DAY: i64 = 24 * 60;

/// Names what is wrong.
pub(super) fn check(write: &Admission<'_>, settings: &Settings, causes: &mut Vec<Cause>) {
    let shoot = &*write.object;
    if text(shoot, "/spec/region").is_none() {
        causes.push(Cause::required("spec.region", "must specify a region"));
    }
    words(shoot, causes);
    numbers(shoot, causes);
    addons(shoot, settings.version, causes);
    window(shoot, causes);
    domain(shoot, settings, causes);
    kubernetes(shoot, settings.version, causes);
    if settings.version >= Version::V1_117 {
        let extensions = list(shoot, "/spec/extensions");
        for (place, one) in extensions.iter().enumerate() {
            if extensions[..place].iter().any(|other| other["type"] == one["type"]) {
                let field = format!("spec.extensions[{place}].type");
                let message = format!("Duplicate value: {}", one["type"]);
                causes.push(Cause { reason: "FieldValueDuplicate", field, message });
            }
        }
    }
}

fn field(path: &str) -> String {
    path.trim_start_matches('/').replace('/', ".")
}

fn words(shoot: &Value, causes: &mut Vec<Cause>) {
    for (path, possible) in WORDS {
        if let Some(value) = shoot.pointer(path).and_then(Value::as_str)
            && !possible.contains(&value)
        {
            causes.push(unsupported(field(path), value, possible.iter().copied()));
        }
    }
    let tolerance = "/spec/controlPlane/highAvailability/failureTolerance";
    if shoot.pointer(tolerance).is_some_and(|it| it.is_object() && it["type"].is_null()) {
        causes.push(unsupported(format!("{}.type", field(tolerance)), "", ["node", "zone"]));
    }
}

fn numbers(shoot: &Value, causes: &mut Vec<Cause>) {
    let pods = "/spec/kubernetes/kubelet/maxPods";
    if let Some(most) = shoot.pointer(pods).and_then(Value::as_i64).filter(|most| *most < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid(field(pods), &most.to_string(), why));
    }
    let mask = "/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize";
    let size = shoot.pointer(mask).and_then(Value::as_i64);
    if let Some(size) = size.filter(|size| !(16..=28).contains(size)) {
        let why = "nodeCIDRMaskSize must be between 16 and 28";
        causes.push(Cause::invalid(field(mask), &size.to_string(), why));
    }
}

/// Addons are for trying things out.
fn addons(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let enabled = ["kubernetesDashboard", "nginxIngress"]
        .iter()
        .any(|name| shoot["spec"]["addons"][*name]["enabled"] == true);
    if enabled && shoot["spec"]["purpose"] != "evaluation" {
        let since =
            if gardener < Version::V1_117 { "for Kubernetes versions >= 1.22 " } else { "" };
        let why =
            format!("{since}addons can only be enabled on shoots with .spec.purpose=evaluation");
        causes.push(Cause::forbidden("spec.addons", &why));
    }
}

/// The maintenance window is half an hour to six hours long.
fn window(shoot: &Value, causes: &mut Vec<Cause>) {
    let path = "/spec/maintenance/timeWindow";
    let Some(window) = shoot.pointer(path).filter(|window| window.is_object()) else { return };
    let written = |key: &str| text(window, &format!("/{key}")).unwrap_or_default();
    let (Some(begin), Some(end)) = (minutes(written("begin")), minutes(written("end"))) else {
        let key = if minutes(written("begin")).is_none() { "begin" } else { "end" };
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
        let shown = format!("{}h{}m0s", length / 60, length % 60);
        causes.push(Cause::invalid(field(path), &shown, why));
    }
}

/// The minute of the day in UTC of a time such as `220000+0100`.
fn minutes(written: &str) -> Option<i64> {
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
    number(&time[4..], 59)?;
    let at = number(&time[..2], 23)? * 60 + number(&time[2..4], 59)?;
    Some(at - sign * (number(&zone[1..3], 23)? * 60 + number(&zone[3..], 59)?))
}

fn domain(shoot: &Value, settings: &Settings, causes: &mut Vec<Cause>) {
    let Some(domain) = text(shoot, "/spec/dns/domain") else { return };
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    if !domain.chars().all(plain) || domain.starts_with(['-', '.']) || domain.ends_with(['-', '.'])
    {
        let why = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
                   start and end with an alphanumeric character";
        causes.push(Cause::invalid("spec.dns.domain", domain, why));
    }
    let own = settings.domain_of(name(shoot));
    if domain.ends_with(&format!(".{}", settings.domain)) && domain != own {
        let why = "shoot uses a default domain but does not match expected scheme: \
                   <shoot-name>.<project-name>.<default-domain>";
        causes.push(Cause::invalid("spec.dns", name(shoot), why));
    }
}

fn kubernetes(shoot: &Value, gardener: Version, causes: &mut Vec<Cause>) {
    let minor = text(shoot, "/spec/kubernetes/version").and_then(version::parts).map(|it| it.1);
    let is = |path: &str| shoot.pointer(path) == Some(&Value::Bool(true));
    let set = |path: &str| shoot.pointer(path).is_some_and(|value| !value.is_null());
    let basic = "/spec/kubernetes/kubeAPIServer/enableBasicAuthentication";
    if gardener < Version::V1_117 && is(basic) {
        let why = "basic authentication has been removed in Kubernetes v1.19+";
        causes.push(Cause::forbidden(field(basic), why));
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
    let plugins = list(shoot, "/spec/kubernetes/kubeAPIServer/admissionPlugins");
    for (place, plugin) in plugins.iter().enumerate() {
        if text(plugin, "/name").is_none() {
            let field = format!("spec.kubernetes.kubeAPIServer.admissionPlugins[{place}].name");
            causes.push(Cause::required(field, "must provide a name"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_zone() {
        assert_eq!(minutes("220000+0000"), Some(22 * 60));
        assert_eq!(minutes("010000+0100"), Some(0));
        assert_eq!(minutes("233000-0030"), Some(DAY));
        for wrong in ["", "220000", "foo", "250000+0000", "220000+00", "2200000000"] {
            assert_eq!(minutes(wrong), None, "{wrong}");
        }
    }
}
