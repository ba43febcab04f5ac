//! OIDC issuers of a cluster: in the Shoot, or in a `ConfigMap` that the Shoot names.
//!
//! What a reader would get wrong: the `ConfigMap` is edited, not rewritten. One entry in it is the runtime's; an annotation
//! says which. Other entries, and fields of ours that no order can name, are somebody's and stay.

mod config_map;

use clients::gardener::Shoot;
use serde_json::{Value, json};

pub use self::config_map::edited;
use crate::configuration::Oidc;

/// The name of a runtime's `ConfigMap`.
pub fn config_map_name(runtime: &str) -> String {
    format!("kcp-oidc-{runtime}")
}

/// Whether a Shoot names this `ConfigMap`: then what is in it is in force.
pub fn is_named_by(shoot: &Shoot, config_map: &str) -> bool {
    let server = server(shoot);
    server.is_some_and(|server| server["structuredAuthentication"]["configMapName"] == config_map)
}

/// The issuer that a cluster is to have, in the words of `oidcConfig`. With what the live Shoot says of the same issuer
/// and no order can name: required claims, a prefix of groups, certificates.
pub fn issuer(wanted: Option<&Oidc>, live: Option<&Shoot>) -> Option<Value> {
    let live = live.and_then(|live| in_shoot(server(live)?));
    let Some(wanted) = wanted else { return live.cloned() };
    let mut issuer = oidc_config(wanted);
    let more = live.filter(|live| live["issuerURL"] == issuer["issuerURL"]);
    for (key, value) in more.and_then(Value::as_object).into_iter().flatten() {
        if issuer.get(key).is_none() {
            issuer[key] = value.clone();
        }
    }
    Some(issuer)
}

fn server(shoot: &Shoot) -> Option<&Value> {
    shoot.spec.kubernetes.as_ref()?.rest.get("kubeAPIServer")
}

/// The issuer of a Shoot's API server; one without an address is none.
pub(super) fn in_shoot(server: &Value) -> Option<&Value> {
    let config = server.get("oidcConfig")?;
    config["issuerURL"].as_str().filter(|url| !url.is_empty()).map(|_| config)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shoot(config: &Value) -> Shoot {
        let spec = json!({"kubernetes": {"kubeAPIServer": {"oidcConfig": config}}});
        serde_json::from_value(json!({"metadata": {}, "spec": spec})).unwrap()
    }

    #[test]
    fn what_the_shoot_says_of_the_same_issuer_and_no_order_can_name_is_kept() {
        let wanted = Oidc {
            client_id: "new".into(),
            issuer_url: "https://a.example.com".into(),
            ..Oidc::default()
        };
        let config =
            |url: &str| json!({"clientID": "old", "issuerURL": url, "groupsPrefix": "sap:"});
        let of = |config: &Value| issuer(Some(&wanted), Some(&shoot(config))).unwrap();

        let same = of(&config("https://a.example.com"));
        let other = of(&config("https://b.example.com"));

        assert_eq!((&same["clientID"], &same["groupsPrefix"]), (&json!("new"), &json!("sap:")));
        assert_eq!(other.get("groupsPrefix"), None);
        let kept = config("https://b.example.com");
        assert_eq!(issuer(None, Some(&shoot(&kept))), Some(kept));
        assert_eq!(issuer(None, Some(&shoot(&json!({"signingAlgs": ["RS256"]})))), None);
    }
}
