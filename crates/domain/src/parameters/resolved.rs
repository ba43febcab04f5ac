//! What an order means once its plan, its place and the defaults have spoken.
//!
//! Zones are drawn once, when the order is resolved. Resolving it again gives other zones: keep the result.

use serde::{Deserialize, Serialize};

use super::Oidc;
use crate::plan::{Profile, Provider};

/// Everything about a runtime that is known before any outside system is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedOrder {
    /// The region of the platform that ordered.
    pub platform_region: String,
    /// Whether data and operators must stay in the EU.
    pub eu_access: bool,
    /// How much Kyma's components get.
    pub profile: Profile,
    /// How the runtime may be used, when the plan says so.
    pub licence_type: Option<String>,
    /// The administrators of the cluster.
    pub administrators: Vec<String>,
    /// Whether the cluster may reach any address.
    pub network_filter_disabled: bool,
    /// The cluster to create; none when the order brings one.
    pub cluster: Option<Cluster>,
}

impl ResolvedOrder {
    /// The provider's word as it is recorded with the instance.
    pub fn provider_word(&self) -> &'static str {
        self.cluster.as_ref().map_or("custom", |cluster| cluster.provider.as_str())
    }

    /// The region as it is recorded with the instance.
    pub fn region_word(&self) -> &str {
        self.cluster.as_ref().map_or("custom", |cluster| &cluster.region)
    }
}

/// A cluster to create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its provider.
    pub provider: Provider,
    /// The provider's region.
    pub region: String,
    /// The zones of its nodes.
    pub zones: Vec<Zone>,
    /// The type of every node.
    pub machine_type: String,
    /// The type of each node's disk, where nodes have one.
    pub disk_type: Option<String>,
    /// The size of each node's disk, where nodes have one.
    pub volume_size_gb: Option<u32>,
    /// The fewest nodes.
    pub auto_scaler_min: u32,
    /// The most nodes.
    pub auto_scaler_max: u32,
    /// How many nodes may be added at once while all are replaced.
    pub max_surge: u32,
    /// How many nodes may be missing while all are replaced.
    pub max_unavailable: u32,
    /// The nodes' network.
    pub worker_cidr: String,
    /// The network around it: Azure's or AWS's virtual one.
    pub network_cidr: Option<String>,
    /// Whether there is a NAT gateway; none where that is not a question.
    pub nat_gateway: Option<bool>,
    /// The purpose of the cluster.
    pub purpose: String,
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// Whether patches of Kubernetes are installed by themselves.
    pub kubernetes_auto_update: bool,
    /// The nodes' operating system.
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    /// Whether newer ones are installed by themselves.
    pub machine_image_auto_update: bool,
    /// The failure tolerance of the control plane: a node or a zone.
    pub failure_tolerance: Option<String>,
    /// How the API server is reached from outside.
    pub exposure_class: Option<String>,
    /// Gardener's description of the provider, where it is not the usual one.
    pub cloud_profile: Option<String>,
    /// The load balancer provider, where there is a choice.
    pub load_balancer_provider: Option<String>,
    /// Where public addresses come from, where that is a question.
    pub floating_pool: Option<String>,
    /// The provider account that the order names.
    pub target_secret: Option<String>,
    /// The OIDC issuer of the cluster.
    pub oidc: Oidc,
}

/// A zone and the part of the network that lies in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Zone {
    /// The provider's name for it.
    pub name: String,
    /// Its networks, where the provider requires them.
    pub subnets: Option<Subnets>,
}

/// The networks of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subnets {
    /// CIDR of the nodes.
    pub workers: String,
    /// CIDR of the public subnet (AWS only).
    pub public: Option<String>,
    /// CIDR of the internal subnet (AWS only).
    pub internal: Option<String>,
}
