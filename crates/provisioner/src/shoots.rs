//! Shoots: how Gardener is asked for a cluster, and how a cluster that is there is changed.
//!
//! What a reader would get wrong: nothing here talks to Gardener, and nothing here refuses. A configuration
//! has been checked before it is stored; here it is only put into Gardener's words.

mod audit;
pub mod authentication;
mod aws;
mod azure;
mod change;
mod dialect;
mod extensions;
mod gcp;
mod json;
mod kubernetes;
mod maintenance;
mod metadata;
pub mod networks;
mod openstack;
mod pool;
#[cfg(test)]
pub(crate) mod tests;
pub mod versions;

use std::collections::BTreeMap;

use clients::gardener::{Dns, Features, Provider, SHOOTS, Shoot, ShootSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use self::extensions::filter_disabled;
pub use self::{
    audit::{AUDIT_TENANT_ANNOTATION, AuditTenants, audit_tenant},
    change::{change, keep_higher_versions},
    dialect::Dialect,
    metadata::{
        EU_ACCESS_ANNOTATION, LEGACY_OPERATION_ANNOTATION, LEGACY_RUNTIME_ANNOTATION,
        LICENCE_ANNOTATION, OPERATION_ANNOTATION,
    },
    pool::POOL,
};
use crate::configuration::{Cluster, Configuration, Provider as Special};

/// Rules that are the same for all Shoots of this provisioner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Gardener's project; Shoots stand in the namespace `garden-<project>`.
    pub project: String,
    /// The config map with the policy that says what is logged for auditors.
    pub audit_policy_config_map: Option<String>,
    /// When Gardener may maintain production clusters, by region.
    pub maintenance_windows: BTreeMap<String, Window>,
}

/// When Gardener may maintain a cluster, each end as `HHMMSS+ZZZZ`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// From when.
    pub begin: String,
    /// Until when.
    pub end: String,
}

/// The owner of a Shoot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner<'a> {
    /// The global account.
    pub tenant: &'a str,
    /// The subaccount; may be empty.
    pub subaccount: &'a str,
    /// The runtime.
    pub runtime_id: &'a str,
    /// The operation that asks for it.
    pub operation_id: &'a str,
}

/// The part of a Shoot that a provider adds.
struct Part {
    profile: String,
    nodes: String,
    control_plane: Value,
    infrastructure: Value,
    zones: Vec<String>,
}

/// The Shoot for a configuration.
pub fn build(
    configuration: &Configuration,
    owner: &Owner<'_>,
    rules: &Rules,
    features: &Features,
) -> Shoot {
    let cluster = &configuration.cluster;
    let mut shoot = Shoot::named(&cluster.name);
    shoot.metadata.namespace = Some(format!("garden-{}", rules.project));
    shoot.metadata.labels = Some(metadata::labels(owner));
    shoot.metadata.annotations = Some(metadata::annotations(cluster, owner));
    shoot.rest.insert("apiVersion".into(), format!("{}/{}", SHOOTS.group, SHOOTS.version).into());
    shoot.rest.insert("kind".into(), SHOOTS.kind.into());
    let dialect = Dialect::of(features, &cluster.kubernetes_version);
    shoot.spec = spec(cluster, part(cluster), rules, dialect);
    shoot.spec.kubernetes = Some(kubernetes::section(cluster, rules, dialect, owner.runtime_id));
    shoot
}

fn spec(cluster: &Cluster, part: Part, rules: &Rules, dialect: Dialect) -> ShootSpec {
    let mut rest = Map::new();
    if dialect.new_names {
        rest.insert("cloudProfile".into(), cloud_profile(&part.profile));
    }
    let old = |name: &str| (!dialect.new_names).then(|| name.to_owned());
    let new = |name: &str| dialect.new_names.then(|| name.to_owned());
    rest.insert("networking".into(), networking(cluster, &part.nodes));
    rest.insert("maintenance".into(), maintenance::section(cluster, rules));
    rest.insert("extensions".into(), extensions::all(cluster.networking_filter_disabled));
    if let Some(class) = &cluster.exposure_class_name {
        rest.insert("exposureClassName".into(), json!(class));
    }
    if let Some(kind) = &cluster.control_plane_failure_tolerance {
        let tolerance = json!({"highAvailability": {"failureTolerance": {"type": kind}}});
        rest.insert("controlPlane".into(), tolerance);
    }
    ShootSpec {
        region: Some(cluster.region.clone()),
        purpose: cluster.purpose.clone(),
        cloud_profile_name: old(&part.profile),
        secret_binding_name: old(&cluster.target_secret),
        credentials_binding_name: new(&cluster.target_secret),
        seed_name: cluster.seed.clone(),
        dns: cluster.dns.as_ref().map(dns),
        provider: Some(provider(cluster, part)),
        rest,
        ..ShootSpec::default()
    }
}

/// A profile by its newer name.
fn cloud_profile(name: &str) -> Value {
    json!({"kind": "CloudProfile", "name": name})
}

fn part(cluster: &Cluster) -> Part {
    match &cluster.provider_config {
        Special::Gcp(gcp) => gcp::part(gcp, &cluster.worker_cidr),
        Special::Azure(azure) => azure::part(azure, &cluster.worker_cidr),
        Special::Aws(aws) => aws::part(aws),
        Special::OpenStack(openstack) => openstack::part(openstack, &cluster.worker_cidr),
    }
}

fn provider(cluster: &Cluster, part: Part) -> Provider {
    let mut rest = Map::new();
    rest.insert("controlPlaneConfig".into(), part.control_plane);
    rest.insert("infrastructureConfig".into(), part.infrastructure);
    Provider {
        kind: Some(cluster.provider_config.kind().into()),
        workers: vec![pool::new(cluster, &part.zones)],
        rest,
    }
}

fn networking(cluster: &Cluster, nodes: &str) -> Value {
    let mut networking = json!({"type": "calico", "nodes": nodes});
    if let Some(pods) = &cluster.pods_cidr {
        networking["pods"] = json!(pods);
    }
    if let Some(services) = &cluster.services_cidr {
        networking["services"] = json!(services);
    }
    networking
}

fn dns(dns: &crate::configuration::Dns) -> Dns {
    let provider = |provider: &crate::configuration::DnsProvider| {
        json!({
            "domains": {"include": provider.domains_include},
            "primary": provider.primary,
            "secretName": provider.secret_name,
            "type": provider.kind,
        })
    };
    let mut rest = Map::new();
    if !dns.providers.is_empty() {
        rest.insert("providers".into(), dns.providers.iter().map(provider).collect());
    }
    Dns { domain: Some(dns.domain.clone()), rest }
}
