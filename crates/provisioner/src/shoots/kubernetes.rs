//! Kubernetes itself: its version, who vouches for users, what is logged for auditors.

use clients::gardener::Kubernetes;
use serde_json::{Map, Value, json};

use super::{Rules, json::at, versions::Version};
use crate::configuration::{Cluster, Oidc};

/// The first version without pod security policies.
const NO_POLICIES: Version = Version::new(1, 25, 0);
/// The first version for which Gardener keeps no kubeconfig with a static token.
const NO_STATIC_TOKEN: Version = Version::new(1, 27, 0);

/// Kubernetes in a new Shoot.
pub(super) fn section(cluster: &Cluster, rules: &Rules) -> Kubernetes {
    let mut server = json!({"enableBasicAuthentication": false});
    if let Some(issuer) = &cluster.oidc {
        server["oidcConfig"] = oidc(issuer);
    }
    if let Some(name) = &rules.audit_policy_config_map {
        *at(&mut server, &["auditConfig", "auditPolicy", "configMapRef", "name"]) = json!(name);
    }
    let mut rest = Map::new();
    // Kubeconfigs are asked for when they are needed, and end by themselves.
    rest.insert("enableStaticTokenKubeconfig".into(), json!(false));
    rest.insert("kubeAPIServer".into(), server);
    Kubernetes { version: Some(cluster.kubernetes_version.clone()), rest }
}

/// Brings Kubernetes in a live Shoot to what is wanted. Versions only go up.
pub(super) fn change(kubernetes: &mut Value, wanted: &Cluster) {
    let live = kubernetes["version"].as_str().and_then(Version::parse);
    let asked = Version::parse(&wanted.kubernetes_version);
    if asked > live {
        *at(kubernetes, &["version"]) = json!(wanted.kubernetes_version);
    }
    // Gardener takes neither of these two with the versions that came later.
    if let Some(fields) = kubernetes.as_object_mut() {
        fields.shift_remove("allowPrivilegedContainers");
    }
    let next = asked.max(live);
    if next >= Some(NO_STATIC_TOKEN) && kubernetes["enableStaticTokenKubeconfig"] == json!(true) {
        kubernetes["enableStaticTokenKubeconfig"] = json!(false);
    }
    if next.is_some_and(|next| next < NO_POLICIES) {
        switch_policies_off(kubernetes);
    }
    if let Some(issuer) = &wanted.oidc {
        *at(kubernetes, &["kubeAPIServer", "oidcConfig"]) = oidc(issuer);
    }
}

/// Once, however often a cluster is changed.
fn switch_policies_off(kubernetes: &mut Value) {
    let plugin = json!({"name": "PodSecurityPolicy", "disabled": true});
    let plugins = at(kubernetes, &["kubeAPIServer", "admissionPlugins"]);
    match plugins.as_array_mut() {
        Some(list) if list.iter().any(|other| other["name"] == plugin["name"]) => {}
        Some(list) => list.push(plugin),
        None => *plugins = json!([plugin]),
    }
}

fn oidc(oidc: &Oidc) -> Value {
    json!({
        "clientID": oidc.client_id,
        "groupsClaim": oidc.groups_claim,
        "issuerURL": oidc.issuer_url,
        "signingAlgs": oidc.signing_algs,
        "usernameClaim": oidc.username_claim,
        "usernamePrefix": oidc.username_prefix,
    })
}
