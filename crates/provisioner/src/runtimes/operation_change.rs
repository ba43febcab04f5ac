//! How an operation is doing, as soon as that changes.

use std::time::Duration;

use super::{Caller, Provisioner, access::uuid};
use crate::{
    Error,
    status::{OperationState, OperationStatus},
};

/// The longest that a caller may wait.
const LONGEST: Duration = Duration::from_secs(20);
/// How long the answer to a change that is not the end is held back: a fast series of changes is one answer.
const GATHER: Duration = Duration::from_secs(1);

/// For how long to wait for which change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Follow {
    /// How long at most.
    pub wait: Duration,
    /// How far the caller saw the operation.
    pub seen_state: Option<OperationState>,
    /// The message that the caller saw last.
    pub seen_message: Option<String>,
}

impl Provisioner {
    /// How an operation is doing: at once when it has ended, otherwise when it differs from what the caller saw, or at the end of the
    /// time. A caller that names nothing has seen the present.
    pub async fn operation_change(
        &self,
        caller: &Caller,
        operation: &str,
        follow: Follow,
    ) -> Result<OperationStatus, Error> {
        let first = self.operation_status(caller, operation).await?;
        if follow.wait.is_zero() || first.state != OperationState::InProgress {
            return Ok(first);
        }
        let Some(mut waiter) = self.0.changes.await_change(uuid(operation, "Operation")?) else {
            return Ok(first);
        };
        let began = self.0.clock.now();
        let seen_state = follow.seen_state.unwrap_or(first.state);
        let seen_message = follow.seen_message.unwrap_or(first.message);
        loop {
            // Read after the caller has its place, so that no change is missed.
            let status = self.operation_status(caller, operation).await?;
            let changed = status.state != seen_state || status.message != seen_message;
            let wait = follow.wait.min(LONGEST);
            let until = began + if changed { GATHER.min(wait) } else { wait };
            if status.state != OperationState::InProgress || self.0.clock.now() >= until {
                return Ok(status);
            }
            tokio::select! {
                biased;
                goes_on = waiter.changed() => if !goes_on { return Ok(status) },
                () = self.0.clock.sleep_until(until) => {}
            }
        }
    }
}
