//! `oidcConfig`: what its fields may say.

use cluster::Cause;
use serde_json::Value;

use super::super::{list, text, unsupported};
use crate::garden::version::Version;

const PATH: &str = "/spec/kubernetes/kubeAPIServer/oidcConfig";
const FIELD: &str = "spec.kubernetes.kubeAPIServer.oidcConfig";
/// Without these two there is no issuer.
const NEEDED: [&str; 2] = ["clientID", "issuerURL"];
/// What may be left out, but not be empty.
const WORDS: [&str; 4] = ["groupsClaim", "groupsPrefix", "usernameClaim", "usernamePrefix"];
const ALGORITHMS: [&str; 10] =
    ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512", "none"];

/// Names what newer Gardeners refuse in an admission plugin: 403.
pub(in crate::garden::admission) fn forbidden(
    shoot: &Value,
    gardener: Version,
    causes: &mut Vec<Cause>,
) {
    let Some(config) = shoot.pointer(PATH).filter(|config| config.is_object()) else { return };
    if gardener < Version::V1_117 {
        return;
    }
    for key in NEEDED {
        let why = match config[key].as_str() {
            None => format!("{key} must be set when oidcConfig is provided"),
            Some("") => format!("{key} cannot be empty"),
            Some(_) => continue,
        };
        causes.push(Cause::required(format!("{FIELD}.{key}"), &why));
    }
}

/// Names what the static rules refuse: 422.
pub(in crate::garden::admission) fn check(
    shoot: &Value,
    gardener: Version,
    causes: &mut Vec<Cause>,
) {
    let Some(config) = shoot.pointer(PATH).filter(|config| config.is_object()) else { return };
    let mut invalid = |key: &str, value: &str, why: &str| {
        causes.push(Cause::invalid(format!("{FIELD}.{key}"), value, why));
    };
    for key in NEEDED.into_iter().chain(WORDS) {
        if config[key] == "" {
            invalid(key, "", &format!("{key} cannot be empty when key is provided"));
        }
    }
    for (key, other) in [("clientID", "issuerURL"), ("issuerURL", "clientID")] {
        if config[key].is_null() && !config[other].is_null() {
            invalid(key, "null", &format!("{key} must be set when {other} is provided"));
        }
    }
    if let Some(url) = text(config, "/issuerURL") {
        if !url.starts_with("https://") {
            invalid("issuerURL", url, "must have https scheme");
        } else if gardener >= Version::V1_117 && url.contains('?') {
            invalid("issuerURL", url, "must not have a query");
        }
    }
    let bundle = text(config, "/caBundle");
    if let Some(bundle) = bundle.filter(|text| !text.contains("-----BEGIN CERTIFICATE-----")) {
        invalid("caBundle", bundle, "caBundle is not a valid PEM-encoded certificate");
    }
    for (place, name) in list(config, "/signingAlgs").iter().filter_map(Value::as_str).enumerate() {
        if !ALGORITHMS.contains(&name) {
            causes.push(unsupported(format!("{FIELD}.signingAlgs[{place}]"), name, ALGORITHMS));
        }
    }
}
