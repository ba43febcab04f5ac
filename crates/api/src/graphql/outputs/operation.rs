//! How an operation is doing.

use async_graphql::SimpleObject;
use provisioner::status;

use super::words::{OperationState, OperationType};

/// How an operation is doing.
#[derive(SimpleObject)]
pub(in crate::graphql) struct OperationStatus {
    id: Option<String>,
    operation: OperationType,
    state: OperationState,
    message: Option<String>,
    #[graphql(name = "runtimeID")]
    runtime_id: Option<String>,
    /// What went wrong last; three empty texts when nothing did.
    last_error: Option<LastError>,
    /// Everything that went wrong, the newest last; the same several times in a row is one.
    errors: Option<Vec<String>>,
}

#[derive(SimpleObject)]
struct LastError {
    err_message: String,
    reason: String,
    component: String,
}

impl From<status::OperationStatus> for OperationStatus {
    fn from(status: status::OperationStatus) -> Self {
        Self {
            id: Some(status.id),
            operation: status.kind.into(),
            state: status.state.into(),
            message: Some(status.message),
            runtime_id: Some(status.runtime_id),
            last_error: Some(LastError::from(status.last_error)),
            errors: Some(status.errors),
        }
    }
}

impl From<Option<status::LastError>> for LastError {
    fn from(error: Option<status::LastError>) -> Self {
        let (err_message, reason, component) =
            error.map(|error| (error.message, error.reason, error.component)).unwrap_or_default();
        Self { err_message, reason, component }
    }
}
