//! Static rules for what few Shoots set: schedules of hibernation, monitoring, audits, selectors, and metadata.

use cluster::Cause;
use serde_json::Value;

use super::{list, text};

/// The operators of a selector.
const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];
/// The longest life of an event, in seconds.
const EVENTS: i64 = 7 * 24 * 3_600;

/// Names what is wrong.
pub(super) fn check(shoot: &Value, causes: &mut Vec<Cause>) {
    schedules(shoot, causes);
    let server = "/spec/kubernetes/kubeAPIServer";
    let audit = "auditConfig/auditPolicy/configMapRef";
    let map = shoot.pointer(&format!("{server}/{audit}"));
    if map.is_some_and(|map| map.is_object() && text(map, "/name").is_none()) {
        let field = format!("{}.name", dotted(&format!("{server}/{audit}")));
        causes.push(Cause::required(field, "must provide a name"));
    }
    if let Some(written) = text(shoot, &format!("{server}/eventTTL"))
        && super::duration::seconds(written).is_some_and(|seconds| seconds > EVENTS)
    {
        let field = dotted(&format!("{server}/eventTTL"));
        causes.push(Cause::invalid(field, written, "can not be longer than 7d"));
    }
    let threshold = "/spec/kubernetes/clusterAutoscaler/scaleDownUtilizationThreshold";
    let value = shoot.pointer(threshold).and_then(Value::as_f64);
    if let Some(value) = value.filter(|value| *value < 0.0) {
        causes.push(Cause::invalid(dotted(threshold), &value.to_string(), "can not be negative"));
    }
    let mails = list(shoot, "/spec/monitoring/alerting/emailReceivers").iter();
    for (place, mail) in mails.filter_map(Value::as_str).enumerate() {
        if mail.split_once('@').is_none_or(|(who, at)| who.is_empty() || at.is_empty()) {
            let field = format!("spec.monitoring.alerting.emailReceivers[{place}]");
            causes.push(Cause::invalid(field, mail, "must provide a valid email"));
        }
    }
    for (place, one) in list(shoot, "/spec/seedSelector/matchExpressions").iter().enumerate() {
        let operator = text(one, "/operator").unwrap_or_default();
        if !OPERATORS.contains(&operator) {
            let field = format!("spec.seedSelector.matchExpressions[{place}].operator");
            causes.push(Cause::invalid(field, operator, "not a valid selector operator"));
        }
    }
}

/// Names keys, labels and finalizers that Kubernetes does not take.
pub(super) fn metadata(shoot: &Value, causes: &mut Vec<Cause>) {
    let why = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
               alphanumeric character";
    let keys = |key: &str| shoot["metadata"][key].as_object().into_iter().flatten();
    for (key, _) in keys("labels").filter(|(key, _)| key.ends_with('/')) {
        let empty = "name part must be non-empty";
        causes.push(Cause::invalid("metadata.labels", key, empty));
        causes.push(Cause::invalid("metadata.labels", key, why));
    }
    for (key, _) in keys("annotations").filter(|(key, _)| !is_qualified(key)) {
        causes.push(Cause::invalid("metadata.annotations", key, why));
    }
    let finalizers = list(shoot, "/metadata/finalizers").iter().filter_map(Value::as_str);
    for finalizer in finalizers.filter(|finalizer| !is_qualified(finalizer)) {
        let why = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
                   or '.', and must start and end with an alphanumeric character";
        causes.push(Cause::invalid("metadata.finalizers", finalizer, why));
    }
}

fn is_qualified(key: &str) -> bool {
    let (prefix, local) = key.rsplit_once('/').unwrap_or(("x", key));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let ends = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    local.len() <= 63
        && ends(local)
        && local.chars().all(plain)
        && ends(prefix)
        && prefix.chars().all(|c| plain(c) && c != '_')
}

fn schedules(shoot: &Value, causes: &mut Vec<Cause>) {
    for (place, schedule) in list(shoot, "/spec/hibernation/schedules").iter().enumerate() {
        let field = format!("spec.hibernation.schedules[{place}]");
        if schedule["start"].is_null() && schedule["end"].is_null() {
            causes.push(Cause::required(field.clone(), "either start or end has to be provided"));
        }
        for key in ["start", "end"] {
            let Some(spec) = schedule[key].as_str() else { continue };
            let found = spec.split_whitespace().count();
            if found != 5 {
                let why = format!(
                    "not a valid cron spec: Expected exactly 5 fields, found {found}: {spec}"
                );
                causes.push(Cause::invalid(format!("{field}.{key}"), spec, &why));
            }
        }
        if let Some(zone) = text(schedule, "/location")
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            let why = format!("not a valid location: unknown time zone {zone}");
            causes.push(Cause::invalid(format!("{field}.location"), zone, &why));
        }
    }
}

fn dotted(path: &str) -> String {
    path.trim_start_matches('/').replace('/', ".")
}
