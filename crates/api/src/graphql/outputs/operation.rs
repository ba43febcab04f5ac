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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_operation_says_what_went_wrong() {
        let status = status::OperationStatus {
            id: "o-1".into(),
            kind: status::OperationType::Hibernate,
            state: status::OperationState::Failed,
            message: "failed".into(),
            runtime_id: "r-1".into(),
            last_error: Some(status::LastError {
                message: "quota exhausted".into(),
                reason: "ERR_INFRA_QUOTA_EXCEEDED".into(),
                component: "gardener".into(),
            }),
            errors: vec!["slow down".into(), "quota exhausted".into()],
        };

        let shown = OperationStatus::from(status);

        assert!(shown.state == OperationState::Failed);
        assert!(shown.operation == OperationType::Hibernate);
        let error = shown.last_error.unwrap();
        assert_eq!(error.err_message, "quota exhausted");
        assert_eq!(error.reason, "ERR_INFRA_QUOTA_EXCEEDED");
        assert_eq!(error.component, "gardener");
        assert_eq!(shown.errors.unwrap(), ["slow down", "quota exhausted"]);
    }
}
