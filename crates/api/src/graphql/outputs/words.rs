//! Enumerations: the API's words beside our own.

use async_graphql::Enum;
use provisioner::{configuration, status};

/// What an operation does.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(rename_items = "PascalCase", remote = "status::OperationType")]
pub(super) enum OperationType {
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
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(rename_items = "PascalCase")]
pub(in crate::graphql) enum OperationState {
    /// Not used: an operation is in progress from the moment it is accepted.
    Pending,
    InProgress,
    Succeeded,
    Failed,
}

impl OperationState {
    /// The provisioner's own state, if it has one of this name.
    pub(in crate::graphql) fn known(self) -> Option<status::OperationState> {
        match self {
            Self::Pending => None,
            Self::InProgress => Some(status::OperationState::InProgress),
            Self::Succeeded => Some(status::OperationState::Succeeded),
            Self::Failed => Some(status::OperationState::Failed),
        }
    }
}

impl From<status::OperationState> for OperationState {
    fn from(state: status::OperationState) -> Self {
        match state {
            status::OperationState::InProgress => Self::InProgress,
            status::OperationState::Succeeded => Self::Succeeded,
            status::OperationState::Failed => Self::Failed,
        }
    }
}

/// How the agent of a runtime is doing.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(rename_items = "PascalCase", remote = "status::ConnectionState")]
pub(super) enum RuntimeAgentConnectionStatus {
    Pending,
    Connected,
    Disconnected,
}

/// The size of a Kyma installation.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(rename_items = "PascalCase", remote = "configuration::Profile")]
pub(in crate::graphql) enum KymaProfile {
    Evaluation,
    Production,
}

/// What happens to overrides that are there already.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(rename_items = "PascalCase", remote = "configuration::ConflictStrategy")]
pub(in crate::graphql) enum ConflictStrategy {
    Merge,
    Replace,
}
