//! Inputs of the provisioner's mutations. A field that is `None` is not sent.

use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A new runtime.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provision {
    /// How the Director knows it.
    pub runtime_input: RuntimeInput,
    /// Its cluster.
    #[serde(rename = "clusterConfig", serialize_with = "cluster_config")]
    pub cluster: (Cluster, Vec<String>),
    /// Kyma's configuration; none without Kyma.
    #[serde(rename = "kymaConfig", skip_serializing_if = "Option::is_none")]
    pub kyma: Option<Kyma>,
}

/// The Gardener part, and the administrators, who are left out when there are none.
fn cluster_config<S: Serializer>(
    (cluster, administrators): &(Cluster, Vec<String>),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    UpgradeInput { gardener_config: cluster, administrators }.serialize(serializer)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpgradeInput<'a, T> {
    gardener_config: &'a T,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    administrators: &'a [String],
}

/// How the Director knows a runtime.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RuntimeInput {
    /// Its name.
    pub name: String,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its labels.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub labels: Map<String, Value>,
}

macro_rules! inputs {
    ($($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Default, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$doc])* pub $field: $kind,)* }
    )*};
}

inputs! {
    /// A cluster that Gardener makes.
    Cluster {
        /// The name of the Shoot.
        name: String,
        /// `aws`, `azure`, `gcp` or `openstack`.
        provider: String,
        /// The Secret of the account.
        target_secret: String,
        /// The region.
        region: String,
        /// The network of the nodes.
        worker_cidr: String,
        /// The provider's own fields.
        #[serde(rename = "providerSpecificConfig")]
        provider_config: Provider,
        /// The version of Kubernetes.
        #[serde(skip_serializing_if = "Option::is_none")]
        kubernetes_version: Option<String>,
        /// The type of the nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_type: Option<String>,
        /// The image of the nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_image: Option<String>,
        /// The version of the image.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_image_version: Option<String>,
        /// The type of the nodes' disks.
        #[serde(skip_serializing_if = "Option::is_none")]
        disk_type: Option<String>,
        /// The size of the nodes' disks.
        #[serde(rename = "volumeSizeGB", skip_serializing_if = "Option::is_none")]
        volume_size_gb: Option<i32>,
        /// How many nodes at least.
        #[serde(skip_serializing_if = "Option::is_none")]
        auto_scaler_min: Option<i32>,
        /// How many nodes at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        auto_scaler_max: Option<i32>,
        /// How many nodes more during an update.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_surge: Option<i32>,
        /// How many nodes fewer during an update.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_unavailable: Option<i32>,
        /// Gardener's word for its purpose.
        #[serde(skip_serializing_if = "Option::is_none")]
        purpose: Option<String>,
        /// The licence of the customer.
        #[serde(skip_serializing_if = "Option::is_none")]
        licence_type: Option<String>,
        /// Whether Gardener may raise the version of Kubernetes.
        #[serde(skip_serializing_if = "Option::is_none")]
        enable_kubernetes_version_auto_update: Option<bool>,
        /// Whether Gardener may raise the version of the image.
        #[serde(skip_serializing_if = "Option::is_none")]
        enable_machine_image_version_auto_update: Option<bool>,
        /// Domain and DNS providers.
        #[serde(skip_serializing_if = "Option::is_none")]
        dns_config: Option<Dns>,
        /// Where the control plane runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        seed: Option<String>,
        /// The OIDC issuer of its users.
        #[serde(skip_serializing_if = "Option::is_none")]
        oidc_config: Option<Oidc>,
        /// How the API server is exposed.
        #[serde(skip_serializing_if = "Option::is_none")]
        exposure_class_name: Option<String>,
        /// Whether the network filter is off.
        #[serde(skip_serializing_if = "Option::is_none")]
        shoot_networking_filter_disabled: Option<bool>,
        /// The failure tolerance of the control plane.
        #[serde(skip_serializing_if = "Option::is_none")]
        control_plane_failure_tolerance: Option<String>,
        /// Whether only people in the EU may touch it.
        #[serde(skip_serializing_if = "Option::is_none")]
        eu_access: Option<bool>,
    }

    /// Other settings of a cluster.
    ShootChange {
        /// The version of Kubernetes; only upwards.
        #[serde(skip_serializing_if = "Option::is_none")]
        kubernetes_version: Option<String>,
        /// The type of the nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_type: Option<String>,
        /// How many nodes at least.
        #[serde(skip_serializing_if = "Option::is_none")]
        auto_scaler_min: Option<i32>,
        /// How many nodes at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        auto_scaler_max: Option<i32>,
        /// The image of the nodes.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_image: Option<String>,
        /// The version of the image.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine_image_version: Option<String>,
        /// How many nodes more during an update.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_surge: Option<i32>,
        /// How many nodes fewer during an update.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_unavailable: Option<i32>,
        /// Gardener's word for its purpose.
        #[serde(skip_serializing_if = "Option::is_none")]
        purpose: Option<String>,
        /// Whether Gardener may raise the version of Kubernetes.
        #[serde(skip_serializing_if = "Option::is_none")]
        enable_kubernetes_version_auto_update: Option<bool>,
        /// Whether Gardener may raise the version of the image.
        #[serde(skip_serializing_if = "Option::is_none")]
        enable_machine_image_version_auto_update: Option<bool>,
        /// The OIDC issuer of its users.
        #[serde(skip_serializing_if = "Option::is_none")]
        oidc_config: Option<Oidc>,
        /// How the API server is exposed.
        #[serde(skip_serializing_if = "Option::is_none")]
        exposure_class_name: Option<String>,
        /// Whether the network filter is off.
        #[serde(skip_serializing_if = "Option::is_none")]
        shoot_networking_filter_disabled: Option<bool>,
    }

    /// Domain and DNS providers.
    Dns {
        /// The domain.
        domain: String,
        /// Its DNS providers.
        providers: Vec<DnsProvider>,
    }

    /// A DNS provider.
    DnsProvider {
        /// The domains it serves.
        domains_include: Vec<String>,
        /// Whether it is the one for the cluster's own domain.
        primary: bool,
        /// Its credentials.
        secret_name: String,
        /// Its kind.
        #[serde(rename = "type")]
        kind: String,
    }

    /// The OIDC issuer of a cluster.
    Oidc {
        /// The client.
        #[serde(rename = "clientID")]
        client_id: String,
        /// The claim with the groups.
        groups_claim: String,
        /// The issuer.
        #[serde(rename = "issuerURL")]
        issuer_url: String,
        /// How tokens may be signed.
        signing_algs: Vec<String>,
        /// The claim with the name.
        username_claim: String,
        /// The prefix of user names.
        username_prefix: String,
    }

    /// Zones on GCP.
    GcpProvider {
        /// Their names.
        zones: Vec<String>,
    }

    /// The network on AWS.
    AwsProvider {
        /// The whole network.
        vpc_cidr: String,
        /// Its zones.
        aws_zones: Vec<AwsZone>,
    }

    /// A zone on AWS.
    AwsZone {
        /// Its name.
        name: String,
        /// Its public network.
        public_cidr: String,
        /// Its internal network.
        internal_cidr: String,
        /// The network of its nodes.
        worker_cidr: String,
    }

    /// The network on Azure.
    AzureProvider {
        /// The whole network.
        vnet_cidr: String,
        /// Zones without a network of their own.
        #[serde(skip_serializing_if = "Option::is_none")]
        zones: Option<Vec<String>>,
        /// Zones with a network of their own.
        #[serde(skip_serializing_if = "Option::is_none")]
        azure_zones: Option<Vec<AzureZone>>,
        /// Whether traffic leaves through a NAT gateway.
        #[serde(skip_serializing_if = "Option::is_none")]
        enable_nat_gateway: Option<bool>,
        /// How long a connection through it may idle.
        #[serde(skip_serializing_if = "Option::is_none")]
        idle_connection_timeout_minutes: Option<i32>,
    }

    /// A zone on Azure.
    AzureZone {
        /// Its number.
        name: i32,
        /// Its network.
        cidr: String,
    }

    /// The network on `OpenStack`.
    OpenStackProvider {
        /// Its zones.
        zones: Vec<String>,
        /// Where public addresses come from.
        #[serde(skip_serializing_if = "Option::is_none")]
        floating_pool_name: Option<String>,
        /// Gardener's profile of the cloud.
        #[serde(skip_serializing_if = "Option::is_none")]
        cloud_profile_name: Option<String>,
        /// The load balancer provider.
        load_balancer_provider: String,
    }

    /// A Kyma installation.
    Kyma {
        /// Its version.
        version: String,
        /// Its size.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<Profile>,
        /// The installed components.
        components: Vec<Component>,
        /// Overrides for all components.
        configuration: Vec<Entry>,
        /// The strategy for existing overrides.
        #[serde(skip_serializing_if = "Option::is_none")]
        conflict_strategy: Option<ConflictStrategy>,
    }

    /// A component of Kyma.
    Component {
        /// Its name.
        component: String,
        /// Its namespace.
        namespace: String,
        /// Its overrides.
        configuration: Vec<Entry>,
        /// Where it comes from, if not from the release.
        #[serde(rename = "sourceURL", skip_serializing_if = "Option::is_none")]
        source_url: Option<String>,
        /// The strategy for existing overrides.
        #[serde(skip_serializing_if = "Option::is_none")]
        conflict_strategy: Option<ConflictStrategy>,
    }

    /// Other versions; either or both.
    Upgrade {
        /// Another Kyma.
        #[serde(rename = "kymaConfig", skip_serializing_if = "Option::is_none")]
        kyma: Option<Kyma>,
        /// Another Kubernetes.
        #[serde(skip_serializing_if = "Option::is_none")]
        kubernetes_version: Option<String>,
    }
}

/// Other settings of a cluster, and its administrators.
#[derive(Debug, Clone, Default)]
pub struct UpgradeShoot {
    /// The changes.
    pub cluster: ShootChange,
    /// All administrators; empty leaves them as they are.
    pub administrators: Vec<String>,
}

impl Serialize for UpgradeShoot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let administrators = &self.administrators;
        UpgradeInput { gardener_config: &self.cluster, administrators }.serialize(serializer)
    }
}

/// The fields of one provider.
#[derive(Debug, Clone, Serialize)]
pub enum Provider {
    /// On AWS.
    #[serde(rename = "awsConfig")]
    Aws(AwsProvider),
    /// On Azure.
    #[serde(rename = "azureConfig")]
    Azure(AzureProvider),
    /// On GCP.
    #[serde(rename = "gcpConfig")]
    Gcp(GcpProvider),
    /// On `OpenStack`.
    #[serde(rename = "openStackConfig")]
    OpenStack(OpenStackProvider),
}

impl Default for Provider {
    fn default() -> Self {
        Self::Gcp(GcpProvider::default())
    }
}

/// How large a Kyma installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Profile {
    /// Small.
    Evaluation,
    /// Large.
    Production,
}

/// The strategy for existing overrides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ConflictStrategy {
    /// They stay, unless they are named.
    Merge,
    /// They go.
    Replace,
}

/// An override. All values are treated as secrets here; `secret` says how the provisioner keeps it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: SecretString,
    /// Whether it is kept in a Secret.
    pub secret: bool,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Plain<'a> {
            key: &'a str,
            value: &'a str,
            secret: bool,
        }
        let value = self.value.expose_secret();
        Plain { key: &self.key, value, secret: self.secret }.serialize(serializer)
    }
}
