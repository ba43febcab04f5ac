//! The states of the API, of which the provisioner has one fewer.

use async_graphql::Enum;
use provisioner::status;

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
