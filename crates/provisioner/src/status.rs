//! Operations and runtimes as callers see them.

use async_graphql::{Enum, SimpleObject};
use serde::{Deserialize, Serialize};

use crate::configuration::Configuration;

/// How an operation is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationStatus {
    /// The operation.
    pub id: String,
    /// What it does.
    pub kind: OperationType,
    /// How far it is.
    pub state: OperationState,
    /// For people.
    pub message: String,
    /// The runtime it works on.
    pub runtime_id: String,
    /// What went wrong last.
    pub last_error: Option<LastError>,
    /// Everything that went wrong, the newest last.
    pub errors: Vec<String>,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Enum)]
#[graphql(rename_items = "PascalCase")]
pub enum OperationType {
    Provision,
    ProvisionNoInstall,
    Upgrade,
    UpgradeShoot,
    Deprovision,
    DeprovisionNoInstall,
    ReconnectRuntime,
    Hibernate,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationState {
    InProgress,
    Succeeded,
    Failed,
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, SimpleObject)]
pub struct LastError {
    /// For people.
    #[graphql(name = "errMessage")]
    pub message: String,
    /// A stable word for it.
    pub reason: String,
    /// Whose fault it is.
    pub component: String,
}

/// Which parts of a runtime's status are wanted: others have to be asked for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusFields {
    /// The way in.
    pub kubeconfig: bool,
    /// How its agent is doing.
    pub connection: bool,
    /// Whether it sleeps.
    pub hibernation: bool,
}

impl StatusFields {
    /// All of them.
    pub const ALL: Self = Self { kubeconfig: true, connection: true, hibernation: true };
    /// What we know by ourselves.
    pub const NONE: Self = Self { kubeconfig: false, connection: false, hibernation: false };

    /// Whether anybody has to be asked.
    pub(crate) fn outside(self) -> bool {
        self.kubeconfig || self.connection || self.hibernation
    }
}

/// How a runtime is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeStatus {
    /// Its newest operation.
    pub last_operation: Option<OperationStatus>,
    /// How its agent is doing.
    pub connection: ConnectionStatus,
    /// What was asked for.
    pub configuration: Configuration,
    /// The way in; `None` until the cluster was made, and when it is gone.
    pub kubeconfig: Option<String>,
    /// Whether it sleeps, as far as Gardener can be asked.
    pub hibernation: Hibernation,
}

/// How a runtime's agent is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionStatus {
    /// In a word.
    pub state: ConnectionState,
    /// What went wrong.
    pub errors: Vec<String>,
}

/// How a runtime's agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "RuntimeAgentConnectionStatus", rename_items = "PascalCase")]
pub enum ConnectionState {
    Pending,
    Connected,
    Disconnected,
}

/// Whether a cluster sleeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, SimpleObject)]
#[graphql(name = "HibernationStatus")]
pub struct Hibernation {
    /// Whether it does.
    pub hibernated: Option<bool>,
    /// Whether it can.
    #[graphql(name = "hibernationPossible")]
    pub possible: Option<bool>,
}
