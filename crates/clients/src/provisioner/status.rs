//! The provisioner's status of operations and runtimes.

use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

/// The type of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum OperationType {
    /// Makes a runtime with Kyma.
    Provision,
    /// Makes a runtime without Kyma.
    ProvisionNoInstall,
    /// Another version.
    Upgrade,
    /// Other settings of the cluster.
    UpgradeShoot,
    /// Removes a runtime with Kyma.
    Deprovision,
    /// Removes a runtime without Kyma.
    DeprovisionNoInstall,
    /// Connects the agent anew.
    ReconnectRuntime,
    /// Lets the cluster sleep.
    Hibernate,
    /// Something that a newer provisioner does.
    #[serde(other)]
    Other,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum OperationState {
    /// It has not begun.
    Pending,
    /// It is being worked on.
    InProgress,
    /// It is done.
    Succeeded,
    /// It will not be done.
    Failed,
}

impl OperationState {
    /// The provisioner's word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::InProgress => "InProgress",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
        }
    }
}

/// The longest that operations may take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationLimits {
    /// Making a runtime.
    pub provisioning: u32,
    /// Changing or upgrading its cluster.
    pub upgrade_shoot: u32,
    /// Removing one.
    pub deprovisioning: u32,
}

/// How an operation is doing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationStatus {
    /// Its id.
    pub id: Option<String>,
    /// Its type.
    pub operation: OperationType,
    /// How far it is.
    pub state: OperationState,
    /// The provisioner's message.
    pub message: Option<String>,
    /// The runtime of the operation.
    #[serde(rename = "runtimeID")]
    pub runtime_id: Option<String>,
    /// The last error.
    #[serde(default, deserialize_with = "unless_empty")]
    pub last_error: Option<LastError>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastError {
    /// For people.
    #[serde(rename = "errMessage")]
    pub message: String,
    /// For programs.
    pub reason: String,
    /// The component that failed.
    pub component: String,
}

/// How a runtime is doing.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeStatus {
    /// The newest operation.
    #[serde(rename = "lastOperationStatus")]
    pub last_operation: Option<OperationStatus>,
    /// How its agent is doing.
    #[serde(rename = "runtimeConnectionStatus", default, deserialize_with = "agent")]
    pub agent: Option<Agent>,
    #[serde(default)]
    runtime_configuration: Option<Configuration>,
    #[serde(default)]
    hibernation_status: Option<Hibernation>,
}

/// How an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Agent {
    /// It has not connected yet.
    Pending,
    /// It is connected.
    Connected,
    /// It was connected once.
    Disconnected,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Configuration {
    kubeconfig: Option<SecretString>,
    cluster_config: Option<ClusterStatus>,
    kyma_config: Option<KymaVersion>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct KymaVersion {
    version: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Hibernation {
    hibernated: Option<bool>,
}

/// A cluster as the provisioner keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// The name of the Shoot.
    pub name: Option<String>,
    /// The version of Kubernetes.
    pub kubernetes_version: Option<String>,
    /// The size of the nodes' disks.
    #[serde(rename = "volumeSizeGB")]
    pub volume_size_gb: Option<i32>,
    /// The type of the nodes' disks.
    pub disk_type: Option<String>,
    /// The type of the nodes.
    pub machine_type: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// Where the control plane runs.
    pub seed: Option<String>,
    /// The Secret of the account.
    pub target_secret: Option<String>,
    /// The network of the nodes.
    pub worker_cidr: Option<String>,
    /// How many nodes at least.
    pub auto_scaler_min: Option<i32>,
    /// How many nodes at most.
    pub auto_scaler_max: Option<i32>,
    /// How many nodes more during an update.
    pub max_surge: Option<i32>,
    /// How many nodes fewer during an update.
    pub max_unavailable: Option<i32>,
    /// The OIDC issuer of its users.
    pub oidc_config: Option<OidcStatus>,
}

/// The OIDC issuer of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OidcStatus {
    /// The client.
    #[serde(rename = "clientID")]
    pub client_id: String,
    /// The claim with the groups.
    pub groups_claim: String,
    /// The issuer.
    #[serde(rename = "issuerURL")]
    pub issuer_url: String,
    /// How tokens may be signed.
    pub signing_algs: Vec<String>,
    /// The claim with the name.
    pub username_claim: String,
    /// The prefix of user names.
    pub username_prefix: String,
}

impl RuntimeStatus {
    /// The cluster's kubeconfig, once it is there.
    pub fn kubeconfig(&self) -> Option<&SecretString> {
        use secrecy::ExposeSecret;
        let kubeconfig = self.runtime_configuration.as_ref()?.kubeconfig.as_ref();
        kubeconfig.filter(|text| !text.expose_secret().is_empty())
    }

    /// The cluster.
    pub fn cluster(&self) -> Option<&ClusterStatus> {
        self.runtime_configuration.as_ref()?.cluster_config.as_ref()
    }

    /// The version of Kyma, where the provisioner installed it.
    pub fn kyma_version(&self) -> Option<&str> {
        self.runtime_configuration.as_ref()?.kyma_config.as_ref()?.version.as_deref()
    }

    /// Whether the cluster sleeps, where that is known.
    pub fn hibernated(&self) -> Option<bool> {
        self.hibernation_status.as_ref()?.hibernated
    }
}

/// Three empty texts say that nothing went wrong.
fn unless_empty<'de, D: Deserializer<'de>>(input: D) -> Result<Option<LastError>, D::Error> {
    let said = Option::<LastError>::deserialize(input)?;
    let is_empty =
        |e: &LastError| e.message.is_empty() && e.reason.is_empty() && e.component.is_empty();
    Ok(said.filter(|error| !is_empty(error)))
}

fn agent<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Agent>, D::Error> {
    #[derive(Deserialize)]
    struct AgentConnection {
        status: Agent,
    }
    Ok(Option::<AgentConnection>::deserialize(input)?.map(|said| said.status))
}
