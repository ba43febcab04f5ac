//! Waits until an operation changes, where the provisioner knows how.
//!
//! What a reader would get wrong: nothing may depend on it. It is a long call that proxies cut, that the original provisioner refuses, and
//! whose failures say nothing about calls that are answered at once. Callers poll from time to time as well.

use std::{sync::PoisonError, time::Duration};

use serde_json::json;

use super::{
    COMPONENT, OperationState, OperationStatus, Provisioner, Tenant, codes, operations::headers,
};
use crate::{
    error::{Error, Kind},
    graphql::Operation,
};

/// How long a provisioner that cannot wait is not asked again whether it can.
const ASK_AGAIN: Duration = Duration::from_secs(600);
/// How much longer than it was asked to a provisioner may take.
const MARGIN: Duration = Duration::from_secs(10);

const FOLLOW: Operation = Operation {
    name: "runtimeOperationStatus (waiting)",
    text: "query ($id: String!, $wait: Int, $state: OperationState, $message: String) { \
           result: runtimeOperationStatus(id: $id, waitSeconds: $wait, seenState: $state, seenMessage: $message) \
           { id operation state message runtimeID lastError { errMessage reason component } } }",
};

impl Provisioner {
    /// How an operation is doing as soon as that differs from `seen`, and after `wait` at the latest. `None` where the provisioner
    /// does not know how to wait: it is polled then.
    pub async fn follow(
        &self,
        tenant: Tenant<'_>,
        seen: &OperationProgress,
        wait: Duration,
    ) -> Result<Option<OperationStatus>, Error> {
        let doing = format!("waiting until operation {} changes", seen.operation);
        let now = self.graphql.clock().monotonic();
        if self.polled_until().is_some_and(|until| now < until) {
            return Ok(None);
        }
        let variables = json!({
            "id": seen.operation, "wait": wait.as_secs(), "state": seen.state.word(), "message": seen.message,
        });
        let headers = headers(tenant);
        let asked = self.graphql.hint(&doing, FOLLOW, &headers, variables);
        match tokio::time::timeout(wait + MARGIN, asked).await {
            Err(_) => Err(Error::new(COMPONENT, Kind::Unavailable, &doing).saying("out of time")),
            Ok(Err(error)) if error.reason.as_deref() == Some(codes::UNKNOWN_ARGUMENT) => {
                *self.polled_until.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(now + ASK_AGAIN);
                Ok(None)
            }
            Ok(answered) => {
                let status =
                    answered?.ok_or_else(|| Error::new(COMPONENT, Kind::Malformed, &doing));
                status.map(Some)
            }
        }
    }

    fn polled_until(&self) -> Option<Duration> {
        *self.polled_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last status of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationProgress {
    /// The operation.
    pub operation: String,
    /// How far it was.
    pub state: OperationState,
    /// The provisioner's message.
    pub message: Option<String>,
}

impl OperationProgress {
    /// Whether the operation has gone on since.
    pub fn differs(&self, status: &OperationStatus) -> bool {
        self.state != status.state || self.message != status.message
    }
}
