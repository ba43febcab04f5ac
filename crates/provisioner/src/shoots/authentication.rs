//! Who vouches for the users of a cluster: in the Shoot, or in a `ConfigMap` that the Shoot names.

use std::collections::BTreeMap;

use clients::gardener::Shoot;
use serde_json::{Value, json};

use crate::configuration::Oidc;

/// The key in the `ConfigMap` that Gardener reads.
const KEY: &str = "config.yaml";

/// The name of a runtime's `ConfigMap`.
pub fn config_map_name(runtime: &str) -> String {
    format!("kcp-oidc-{runtime}")
}

/// What stands in it: Kubernetes' `AuthenticationConfiguration`, as JSON, which is YAML too.
pub fn config_map_data(issuers: &[Oidc]) -> BTreeMap<String, String> {
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1beta1",
        "kind": "AuthenticationConfiguration",
        "jwt": issuers.iter().map(authenticator).collect::<Vec<_>>(),
    });
    let text = serde_json::to_string_pretty(&configuration).expect("text keys make JSON");
    BTreeMap::from([(KEY.to_owned(), text + "\n")])
}

/// The issuer of `oidcConfig` as an `AuthenticationConfiguration`. It has no field for signing algorithms: Kubernetes
/// accepts all asymmetric ones.
fn authenticator(oidc: &Oidc) -> Value {
    json!({
        "issuer": {"url": oidc.issuer_url, "audiences": [oidc.client_id]},
        "claimMappings": {
            "username": {"claim": oidc.username_claim, "prefix": prefix(oidc)},
            "groups": {"claim": oidc.groups_claim, "prefix": ""},
        },
    })
}

/// A hyphen means none; nothing means the issuer, unless users are named by their mail addresses.
fn prefix(oidc: &Oidc) -> String {
    match oidc.username_prefix.as_str() {
        "-" => String::new(),
        "" if oidc.username_claim == "email" => String::new(),
        "" => format!("{}#", oidc.issuer_url),
        prefix => prefix.to_owned(),
    }
}

/// The issuer as it stands in the Shoot.
pub(super) fn oidc_config(oidc: &Oidc) -> Value {
    json!({
        "clientID": oidc.client_id,
        "groupsClaim": oidc.groups_claim,
        "issuerURL": oidc.issuer_url,
        "signingAlgs": oidc.signing_algs,
        "usernameClaim": oidc.username_claim,
        "usernamePrefix": oidc.username_prefix,
    })
}

/// The issuer that a live Shoot names itself, if it does.
pub fn of_shoot(shoot: &Shoot) -> Option<Oidc> {
    let server = shoot.spec.kubernetes.as_ref()?.rest.get("kubeAPIServer")?;
    let config = server.get("oidcConfig").filter(|config| config.is_object())?;
    let text = |key: &str, default: &str| config[key].as_str().unwrap_or(default).to_owned();
    let algorithms = config["signingAlgs"].as_array().into_iter().flatten();
    let issuer_url = config["issuerURL"].as_str().filter(|url| !url.is_empty())?.to_owned();
    Some(Oidc {
        client_id: text("clientID", ""),
        groups_claim: text("groupsClaim", "groups"),
        issuer_url,
        signing_algs: algorithms.filter_map(Value::as_str).map(str::to_owned).collect(),
        username_claim: text("usernameClaim", "sub"),
        username_prefix: text("usernamePrefix", ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oidc(prefix: &str, claim: &str) -> Oidc {
        Oidc {
            client_id: "client".into(),
            groups_claim: "groups".into(),
            issuer_url: "https://issuer.example.com".into(),
            signing_algs: vec!["RS256".into()],
            username_claim: claim.into(),
            username_prefix: prefix.into(),
        }
    }

    #[test]
    fn an_issuer_means_the_same_in_the_config_map_as_in_the_shoot() {
        let data = config_map_data(&[
            oidc("-", "sub"),
            oidc("", "sub"),
            oidc("", "email"),
            oidc("a:", "sub"),
        ]);

        let written: Value = serde_json::from_str(&data[KEY]).unwrap();
        assert_eq!(written["kind"], "AuthenticationConfiguration");
        assert_eq!(
            written["jwt"][0],
            json!({
                "issuer": {"url": "https://issuer.example.com", "audiences": ["client"]},
                "claimMappings": {
                    "username": {"claim": "sub", "prefix": ""},
                    "groups": {"claim": "groups", "prefix": ""},
                },
            })
        );
        let prefixes: Vec<_> = written["jwt"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["claimMappings"]["username"]["prefix"].as_str().unwrap())
            .collect();
        assert_eq!(prefixes, ["", "https://issuer.example.com#", "", "a:"]);
    }
}
