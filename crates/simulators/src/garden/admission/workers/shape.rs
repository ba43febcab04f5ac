//! One group of machines by itself: its name, its numbers, its disk and its taints.

use cluster::Cause;
use serde_json::Value;

use super::super::{list, text, unsupported};
use crate::garden::version::Version;

/// How long the name may be.
const LONGEST: usize = 15;

/// Names what is wrong with it.
pub(super) fn check(worker: &Value, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    name(text(worker, "/name").unwrap_or_default(), field, gardener, causes);
    if gardener < Version::V1_117 && worker["cri"]["name"] == "docker" {
        let why = "'docker' is only allowed for kubernetes versions < 1.23";
        causes.push(Cause::forbidden(format!("{field}.cri.name"), why));
    }
    numbers(worker, field, gardener, causes);
    for key in ["maxSurge", "maxUnavailable"] {
        rolling(&worker[key], &format!("{field}.{key}"), key, causes);
    }
    let whole = |key: &str| worker.get(key).is_none_or(|value| *value == 0 || *value == "0%");
    if worker.get("maxSurge").is_some() && whole("maxSurge") && whole("maxUnavailable") {
        let why = "may not be 0 when `maxSurge` is 0";
        causes.push(Cause::invalid(format!("{field}.maxUnavailable"), "0", why));
    }
    if worker["volume"].is_object() {
        let size = text(worker, "/volume/size").unwrap_or_default();
        let digits = size.strip_suffix("Gi").unwrap_or_default();
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
            let why = r"volume size must match the regex ^(\d)+Gi$";
            causes.push(Cause::invalid(format!("{field}.volume.size"), size, why));
        }
    }
    taints(worker, field, causes);
    if let Some(bundle) =
        text(worker, "/caBundle").filter(|text| !text.contains("-----BEGIN CERTIFICATE-----"))
    {
        let why = "caBundle is not a valid PEM-encoded certificate";
        causes.push(Cause::invalid(format!("{field}.caBundle"), bundle, why));
    }
}

/// Whether nothing ordinary may run on it.
pub(super) fn is_tainted(worker: &Value, gardener: Version) -> bool {
    list(worker, "/taints").iter().any(|taint| {
        let keeps_off = ["NoSchedule", "NoExecute"].iter().any(|effect| taint["effect"] == *effect);
        keeps_off || gardener < Version::V1_117 && taint["effect"] != "PreferNoSchedule"
    })
}

fn name(name: &str, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
    let field = format!("{field}.name");
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ends = !name.starts_with('-') && !name.ends_with('-');
    if name.is_empty() || !name.chars().all(plain) || !ends {
        let why = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                   end with an alphanumeric character";
        causes.push(Cause::invalid(field.clone(), name, why));
    }
    if name.len() > LONGEST {
        let most =
            if gardener < Version::V1_117 { "must have at most" } else { "may not be more than" };
        let message = format!("Too long: {most} {LONGEST} bytes");
        causes.push(Cause { reason: "FieldValueTooLong", field, message });
    }
}

fn numbers(worker: &Value, field: &str, gardener: Version, causes: &mut Vec<Cause>) {
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
    let zones = i64::try_from(list(worker, "/zones").len()).unwrap_or(i64::MAX);
    if gardener >= Version::V1_117 && maximum != 0 && maximum < zones {
        let why = "maximum node count should be greater than or equal to the number of zones specified for this pool";
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
    for (place, taint) in list(worker, "/taints").iter().enumerate() {
        let field = format!("{field}.taints[{place}].effect");
        match text(taint, "/effect") {
            None => causes.push(Cause::required(field, "")),
            Some(effect) if !possible.contains(&effect) => {
                causes.push(unsupported(field, effect, possible));
            }
            Some(_) => {}
        }
    }
}
