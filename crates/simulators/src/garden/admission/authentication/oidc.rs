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

/// Names what newer Gardeners refuse in an admission plugin when a Shoot is made: 403.
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
    if super::is_too_late(shoot, gardener) {
        return;
    }
    let mut invalid = |key: &str, value: &str, why: &str| {
        causes.push(Cause::invalid(format!("{FIELD}.{key}"), value, why));
    };
    for key in NEEDED.into_iter().chain(WORDS) {
        if config[key] == "" {
            invalid(key, "", &format!("{key} cannot be empty when key is provided"));
        }
    }
    let is_set = |key: &str| config[key].as_str().is_some_and(|text| !text.is_empty());
    for (key, other) in [("clientID", "issuerURL"), ("issuerURL", "clientID")] {
        if !is_set(key) && is_set(other) {
            invalid(
                key,
                config[key].as_str().unwrap_or("null"),
                &format!("{key} must be set when {other} is provided"),
            );
        }
    }
    if let Some(url) = text(config, "/issuerURL") {
        for why in wrong_issuer(url, gardener) {
            invalid("issuerURL", url, why);
        }
    }
    let bundle = config["caBundle"].as_str();
    if let Some(bundle) = bundle.filter(|text| !text.contains("-----BEGIN CERTIFICATE-----")) {
        invalid("caBundle", bundle, "caBundle is not a valid PEM-encoded certificate");
    }
    for (place, name) in list(config, "/signingAlgs").iter().filter_map(Value::as_str).enumerate() {
        if !ALGORITHMS.contains(&name) {
            causes.push(unsupported(format!("{FIELD}.signingAlgs[{place}]"), name, ALGORITHMS));
        }
    }
}

/// What is wrong with the address of an issuer.
fn wrong_issuer(url: &str, gardener: Version) -> Vec<&'static str> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) =
        place.rsplit_once('@').map_or((None, place), |(user, host)| (Some(user), host));
    let mut wrong = Vec::new();
    if host.is_empty() || host.contains(char::is_whitespace) {
        wrong.push("must be a valid URL and have https scheme");
    }
    if gardener >= Version::V1_117 {
        let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
        let query = before.split_once('?').map_or("", |(_, query)| query);
        wrong.extend((!fragment.is_empty()).then_some("must not contain a fragment"));
        wrong.extend(user.map(|_| "must not contain a username or password"));
        wrong.extend((!query.is_empty()).then_some("must not contain a query"));
    }
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_https = scheme.eq_ignore_ascii_case("https");
    wrong.extend((!is_https).then_some("must have https scheme"));
    wrong
}
