//! Kubernetes itself: its version, who vouches for users, what is logged for auditors.

use clients::gardener::Kubernetes;
use serde_json::{Map, Value, json};

use super::{
    Rules,
    authentication::{config_map_name, in_shoot, oidc_config},
    dialect::{Dialect, NO_STATIC_TOKEN},
    json::at,
    versions::Version,
};
use crate::configuration::Cluster;

/// The first version without pod security policies.
const NO_POLICIES: Version = Version::new(1, 25, 0);

/// Kubernetes in a new Shoot.
pub(super) fn section(
    cluster: &Cluster,
    rules: &Rules,
    dialect: Dialect,
    runtime: &str,
) -> Kubernetes {
    let mut server = json!({});
    if dialect.basic_authentication {
        server["enableBasicAuthentication"] = json!(false);
    }
    if let Some(issuer) = &cluster.oidc {
        if dialect.structured_authentication {
            server["structuredAuthentication"] = json!({"configMapName": config_map_name(runtime)});
        } else {
            server["oidcConfig"] = oidc_config(issuer);
        }
    }
    if let Some(name) = &rules.audit_policy_config_map {
        *at(&mut server, &["auditConfig", "auditPolicy", "configMapRef", "name"]) = json!(name);
    }
    let mut rest = Map::new();
    // Kubeconfigs are asked for when they are needed, and end by themselves.
    if dialect.static_token {
        rest.insert("enableStaticTokenKubeconfig".into(), json!(false));
    }
    if server.as_object().is_some_and(|server| !server.is_empty()) {
        rest.insert("kubeAPIServer".into(), server);
    }
    Kubernetes { version: Some(cluster.kubernetes_version.clone()), rest }
}

/// Brings Kubernetes in a live Shoot to what is wanted. Versions only go up.
pub(super) fn change(kubernetes: &mut Value, wanted: &Cluster, dialect: Dialect, runtime: &str) {
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
    if dialect.structured_authentication {
        if wanted.oidc.is_some() || kubernetes.get("kubeAPIServer").and_then(in_shoot).is_some() {
            *at(kubernetes, &["kubeAPIServer", "structuredAuthentication", "configMapName"]) =
                json!(config_map_name(runtime));
        }
        // Not even one that names no issuer: Gardener takes it no more.
        let server = kubernetes.get_mut("kubeAPIServer").and_then(Value::as_object_mut);
        if let Some(fields) = server {
            fields.shift_remove("oidcConfig");
        }
    } else if let Some(issuer) = &wanted.oidc {
        *at(kubernetes, &["kubeAPIServer", "oidcConfig"]) = oidc_config(issuer);
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
