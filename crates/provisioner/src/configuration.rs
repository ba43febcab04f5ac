//! What a runtime is to be: as it was checked, with every default filled in. This is what is stored.
//!
//! What a reader would get wrong: these are not the caller's words. A request (`requests.rs`) leaves out
//! what it does not care about; a configuration leaves out nothing.

mod kyma;
mod provider;

use async_graphql::{InputObject, SimpleObject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use kyma::{Component, ConflictStrategy, Entry, Kyma, Profile};
pub use provider::{Aws, AwsZone, Azure, AzureZone, Gcp, NatGateway, OpenStack, Provider};

/// Everything that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// How the Director knows it.
    pub entry: DirectorEntry,
    /// The cluster.
    pub cluster: Cluster,
    /// Who may do everything in it.
    #[serde(default)]
    pub administrators: Vec<String>,
    /// What is installed in it; nothing when absent.
    #[serde(default)]
    pub kyma: Option<Kyma>,
}

/// How the Director knows a runtime.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectorEntry {
    /// Its name there.
    pub name: String,
    /// What people should know about it.
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub labels: Map<String, Value>,
}

/// A cluster that Gardener makes.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the API")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// The Shoot's name.
    pub name: String,
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// `aws`, `azure`, `gcp`, `openstack`.
    pub provider: String,
    /// The binding to the hyperscaler account.
    pub target_secret: String,
    /// Where it stands.
    pub region: String,
    /// The machines of its nodes.
    pub machine_type: String,
    /// Their image; Gardener chooses when absent.
    #[serde(default)]
    pub machine_image: Option<String>,
    /// The image's version.
    #[serde(default)]
    pub machine_image_version: Option<String>,
    /// The kind of disk.
    #[serde(default)]
    pub disk_type: Option<String>,
    /// The disk's size.
    #[serde(default)]
    pub volume_size_gb: Option<i32>,
    /// The network of the nodes.
    pub worker_cidr: String,
    /// The network of the pods.
    #[serde(default)]
    pub pods_cidr: Option<String>,
    /// The network of the services.
    #[serde(default)]
    pub services_cidr: Option<String>,
    /// How many nodes at least.
    pub auto_scaler_min: i32,
    /// How many nodes at most.
    pub auto_scaler_max: i32,
    /// How many nodes more while nodes are replaced.
    pub max_surge: i32,
    /// How many nodes fewer while nodes are replaced.
    pub max_unavailable: i32,
    /// What it is for.
    #[serde(default)]
    pub purpose: Option<String>,
    /// Under which licence it runs.
    #[serde(default)]
    pub licence_type: Option<String>,
    /// Whether Gardener may raise the version of Kubernetes by itself.
    pub kubernetes_auto_update: bool,
    /// Whether Gardener may raise the version of the machine image by itself.
    pub machine_image_auto_update: bool,
    /// What only one provider has.
    pub provider_config: Provider,
    /// Its names in the DNS.
    #[serde(default)]
    pub dns: Option<Dns>,
    /// The seed that runs its control plane; Gardener chooses when absent.
    #[serde(default)]
    pub seed: Option<String>,
    /// Who vouches for its users.
    #[serde(default)]
    pub oidc: Option<Oidc>,
    /// How its control plane is reached.
    #[serde(default)]
    pub exposure_class_name: Option<String>,
    /// Whether the networking filter is switched off.
    pub networking_filter_disabled: bool,
    /// `node` or `zone`.
    #[serde(default)]
    pub control_plane_failure_tolerance: Option<String>,
    /// Whether only people in the EU may reach its nodes.
    pub eu_access: bool,
}

/// Names in the DNS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dns {
    /// The domain of the cluster.
    pub domain: String,
    /// Who keeps its records.
    #[serde(default)]
    pub providers: Vec<DnsProvider>,
}

/// Who keeps records of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SimpleObject, InputObject)]
#[graphql(name = "DNSProvider", input_name = "DNSProviderInput")]
pub struct DnsProvider {
    /// The domains it is for.
    pub domains_include: Vec<String>,
    /// Whether it is the first.
    pub primary: bool,
    /// Its credentials.
    pub secret_name: String,
    #[graphql(name = "type")]
    pub kind: String,
}

/// Who vouches for the users of a cluster.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, SimpleObject, InputObject,
)]
#[graphql(name = "OIDCConfig", input_name = "OIDCConfigInput")]
pub struct Oidc {
    /// The client that users log in with.
    #[graphql(name = "clientID")]
    pub client_id: String,
    /// The claim with their groups.
    pub groups_claim: String,
    /// The issuer.
    #[graphql(name = "issuerURL")]
    pub issuer_url: String,
    /// How it may sign.
    pub signing_algs: Vec<String>,
    /// The claim with their name.
    pub username_claim: String,
    /// What is put in front of their name.
    pub username_prefix: String,
}
