//! How an operation is doing.

use async_graphql::SimpleObject;
use provisioner::status::{self, LastError, OperationType};

use super::words::OperationState;

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

impl From<status::OperationStatus> for OperationStatus {
    fn from(status: status::OperationStatus) -> Self {
        Self {
            id: Some(status.id),
            operation: status.kind,
            state: status.state.into(),
            message: Some(status.message),
            runtime_id: Some(status.runtime_id),
            last_error: Some(status.last_error.unwrap_or_default()),
            errors: Some(status.errors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_operation_says_what_went_wrong() {
        let status = status::OperationStatus {
            id: "o-1".into(),
            kind: OperationType::Hibernate,
            state: status::OperationState::Failed,
            message: "failed".into(),
            runtime_id: "r-1".into(),
            last_error: Some(LastError {
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
        assert_eq!(error.message, "quota exhausted");
        assert_eq!(error.reason, "ERR_INFRA_QUOTA_EXCEEDED");
        assert_eq!(error.component, "gardener");
        assert_eq!(shown.errors.unwrap(), ["slow down", "quota exhausted"]);
    }
}
