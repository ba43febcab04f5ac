//! What callers ask for, in their words: what they leave out is decided when a request is checked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::configuration::{
    AwsZone, AzureZone, ConflictStrategy, Dns, Entry, NatGateway, Oidc, Profile,
};

/// A new runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provision {
    /// The Director's id of a runtime that is registered already.
    pub runtime_id: Option<String>,
    /// Its name in the Director.
    pub name: String,
    /// What people should know about it.
    pub description: Option<String>,
    /// Its labels in the Director.
    pub labels: Map<String, Value>,
    /// The cluster.
    pub cluster: Cluster,
    /// Who may do everything in it.
    pub administrators: Vec<String>,
    /// What is installed in it.
    pub kyma: Option<Kyma>,
}

/// A cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    pub name: String,
    pub kubernetes_version: Option<String>,
    pub provider: String,
    pub target_secret: String,
    pub region: String,
    pub machine_type: Option<String>,
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    pub disk_type: Option<String>,
    pub volume_size_gb: Option<i32>,
    pub worker_cidr: String,
    pub pods_cidr: Option<String>,
    pub services_cidr: Option<String>,
    pub auto_scaler_min: Option<i32>,
    pub auto_scaler_max: Option<i32>,
    pub max_surge: Option<i32>,
    pub max_unavailable: Option<i32>,
    pub purpose: Option<String>,
    pub licence_type: Option<String>,
    pub kubernetes_auto_update: Option<bool>,
    pub machine_image_auto_update: Option<bool>,
    pub provider_config: ProviderConfig,
    pub dns: Option<Dns>,
    pub seed: Option<String>,
    pub oidc: Option<Oidc>,
    pub exposure_class_name: Option<String>,
    pub networking_filter_disabled: Option<bool>,
    pub control_plane_failure_tolerance: Option<String>,
    pub eu_access: Option<bool>,
}

/// What only one provider has. Exactly one member must be there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderConfig {
    pub gcp: Option<GcpConfig>,
    pub azure: Option<AzureConfig>,
    pub aws: Option<AwsConfig>,
    pub open_stack: Option<OpenStackConfig>,
}

/// Google.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GcpConfig {
    /// At least one.
    pub zones: Vec<String>,
}

/// Microsoft.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AzureConfig {
    /// The whole network.
    pub vnet_cidr: String,
    /// The older way to name zones.
    pub zones: Option<Vec<String>>,
    /// Zones with a subnet each.
    pub azure_zones: Option<Vec<AzureZone>>,
    /// How nodes reach the outside.
    pub nat_gateway: Option<NatGateway>,
    /// When connections through the gateway end that is there, if nothing is said about the gateway itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_minutes: Option<i32>,
}

/// Amazon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AwsConfig {
    /// The whole network.
    pub vpc_cidr: String,
    /// Its zones; the protocol allows null in the list, the checks do not.
    pub zones: Vec<Option<AwsZone>>,
}

/// `OpenStack`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenStackConfig {
    /// At least one.
    pub zones: Vec<String>,
    /// Where public addresses come from; a default when absent.
    pub floating_pool_name: Option<String>,
    /// The cloud profile; a default when absent.
    pub cloud_profile_name: Option<String>,
    /// Who balances loads.
    pub load_balancer_provider: String,
}

/// What is to be installed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kyma {
    /// The release.
    pub version: String,
    /// Its size.
    pub profile: Option<Profile>,
    /// Modules in addition to Kyma Lite, or instead of it when the agent is among them.
    pub components: Vec<Component>,
    /// Overrides for all components.
    pub configuration: Vec<Entry>,
    /// What happens to overrides that are there already.
    pub conflict_strategy: Option<ConflictStrategy>,
}

/// One component.
pub type Component = crate::configuration::Component;

/// A new version of Kyma, or of Kubernetes, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Upgrade {
    /// What is to be installed.
    pub kyma: Option<Kyma>,
    /// The version of Kubernetes.
    pub kubernetes_version: Option<String>,
}

/// Other settings for a cluster; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UpgradeShoot {
    pub kubernetes_version: Option<String>,
    pub machine_type: Option<String>,
    pub disk_type: Option<String>,
    pub volume_size_gb: Option<i32>,
    pub worker_cidr: Option<String>,
    pub target_secret: Option<String>,
    pub auto_scaler_min: Option<i32>,
    pub auto_scaler_max: Option<i32>,
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    pub max_surge: Option<i32>,
    pub max_unavailable: Option<i32>,
    pub purpose: Option<String>,
    pub kubernetes_auto_update: Option<bool>,
    pub machine_image_auto_update: Option<bool>,
    pub provider_config: Option<ProviderConfig>,
    pub oidc: Option<Oidc>,
    pub exposure_class_name: Option<String>,
    pub networking_filter_disabled: Option<bool>,
    /// All of them: others are no administrators afterwards.
    pub administrators: Vec<String>,
}
