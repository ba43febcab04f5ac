//! What callers ask for, in their words: what they leave out is decided when a request is checked.
//!
//! What a reader would get wrong: these are types of the GraphQL schema as well, so names of fields are the callers'. What the API allows
//! and no request means (null in a list) is taken out in `api` first, and so are fields that say one thing in two ways.

use async_graphql::InputObject;
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, InputObject)]
pub struct Cluster {
    /// The name of the Shoot.
    pub name: String,
    pub kubernetes_version: Option<String>,
    /// aws, azure, gcp or openstack.
    pub provider: String,
    pub target_secret: String,
    pub region: String,
    pub machine_type: Option<String>,
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    pub disk_type: Option<String>,
    #[graphql(name = "volumeSizeGB")]
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
    #[graphql(name = "enableKubernetesVersionAutoUpdate")]
    pub kubernetes_auto_update: Option<bool>,
    #[graphql(name = "enableMachineImageVersionAutoUpdate")]
    pub machine_image_auto_update: Option<bool>,
    #[graphql(skip)]
    pub provider_config: ProviderConfig,
    #[graphql(skip)]
    pub dns: Option<Dns>,
    pub seed: Option<String>,
    #[graphql(name = "oidcConfig")]
    pub oidc: Option<Oidc>,
    pub exposure_class_name: Option<String>,
    #[graphql(name = "shootNetworkingFilterDisabled")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, InputObject)]
#[graphql(name = "GCPProviderConfigInput")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, InputObject)]
#[graphql(name = "AWSProviderConfigInput")]
pub struct AwsConfig {
    /// The whole network.
    pub vpc_cidr: String,
    /// Its zones; the protocol allows null in the list, the checks do not.
    #[graphql(name = "awsZones")]
    pub zones: Vec<Option<AwsZone>>,
}

/// `OpenStack`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, InputObject)]
#[graphql(name = "OpenStackProviderConfigInput")]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, InputObject)]
pub struct UpgradeShoot {
    /// Only upwards.
    pub kubernetes_version: Option<String>,
    pub machine_type: Option<String>,
    pub disk_type: Option<String>,
    #[graphql(name = "volumeSizeGB")]
    pub volume_size_gb: Option<i32>,
    pub worker_cidr: Option<String>,
    /// Cannot be changed.
    pub target_secret: Option<String>,
    /// At least 1.
    pub auto_scaler_min: Option<i32>,
    pub auto_scaler_max: Option<i32>,
    pub machine_image: Option<String>,
    pub machine_image_version: Option<String>,
    pub max_surge: Option<i32>,
    pub max_unavailable: Option<i32>,
    pub purpose: Option<String>,
    #[graphql(name = "enableKubernetesVersionAutoUpdate")]
    pub kubernetes_auto_update: Option<bool>,
    #[graphql(name = "enableMachineImageVersionAutoUpdate")]
    pub machine_image_auto_update: Option<bool>,
    #[graphql(skip)]
    pub provider_config: Option<ProviderConfig>,
    #[graphql(name = "oidcConfig")]
    pub oidc: Option<Oidc>,
    pub exposure_class_name: Option<String>,
    #[graphql(name = "shootNetworkingFilterDisabled")]
    pub networking_filter_disabled: Option<bool>,
    /// All of them: others are no administrators afterwards.
    #[graphql(skip)]
    pub administrators: Vec<String>,
}
