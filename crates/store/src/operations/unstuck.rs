//! Operators' actions on stuck operations: cancel, retry, skip a step, abandon.
//!
//! What a reader would get wrong: a retry is a new operation. It is accepted only for the newest operation of an instance, and only
//! while nothing of the instance is unfinished, so that an old order never undoes what a newer one did.

use ::engine::{
    OperationId, State,
    storage::{Acceptance, Skip, Snapshot, Unfinished, Verdict},
};
use uuid::Uuid;

use super::{Operations, OperationsError};
use crate::engine::RetryResult;

/// The kind of the operations that drive orchestrations.
const DRIVER: &str = "orchestration";

impl Operations {
    /// Asks it to end at its next step boundary.
    pub async fn cancel(
        &self,
        id: OperationId,
        reason: String,
    ) -> Result<Snapshot, OperationsError> {
        not_a_driver(&self.find(id).await?)?;
        let accepted = self.0.cancel(id, reason).await?;
        let snapshot = self.find(id).await?;
        if accepted { Ok(snapshot) } else { Err(OperationsError::Ended(id)) }
    }

    /// A new operation that continues one that has failed or was canceled: finished stages stay finished. Not of a driver, whose
    /// orchestration has ended with it: another one would find nothing to do.
    pub async fn retry(&self, id: OperationId) -> Result<Snapshot, OperationsError> {
        let old = self.find(id).await?;
        if old.kind == DRIVER {
            let instance = &old.instance;
            return conflict(format!(
                "operation {id} drives orchestration {instance}: retry that one (kcp orchestrations {instance} retry, or POST /orchestrations/{instance}/retry)"
            ));
        }
        match old.state {
            State::Failed | State::Canceled => {}
            State::Succeeded => return conflict(format!("operation {id} has succeeded")),
            State::Pending | State::InProgress => {
                return conflict(format!("operation {id} has not ended"));
            }
        }
        let new = Uuid::now_v7();
        match self.0.storage().continue_newest(id, new, &alone).await? {
            RetryResult::Older(newer) => {
                conflict(format!("operation {id} is not the newest of its instance: {newer} is"))
            }
            RetryResult::Yes(Acceptance::Refused(other) | Acceptance::Same(other)) => {
                conflict(format!("operation {other} of the same instance has not ended"))
            }
            RetryResult::Yes(Acceptance::Started | Acceptance::Queued) => self.find(new).await,
        }
    }

    /// Asks that a step of a removal does not run any more: it is recorded as executed but not completed, and the removal goes on.
    pub async fn skip(
        &self,
        id: OperationId,
        step: &str,
        reason: String,
    ) -> Result<Snapshot, OperationsError> {
        let operation = self.find(id).await?;
        if operation.state.is_final() {
            return Err(OperationsError::Ended(id));
        }
        let kind = &operation.kind;
        let Some(shape) = self.0.shape(kind) else {
            return conflict(format!("this program does not know the plan of {kind}"));
        };
        let stage = shape.stages.iter().find(|stage| stage.steps.iter().any(|it| it.name == step));
        let Some(stage) = stage else {
            let problem = format!("is not in the plan of {kind}");
            return Err(OperationsError::Bad { field: "step", problem });
        };
        let removes = |it: &::engine::plan::StepShape| it.name == step && it.leaves.is_some();
        if !stage.steps.iter().any(removes) {
            let problem =
                format!("cannot be skipped: the plan of {kind} does not go on without it");
            return Err(OperationsError::Bad { field: "step", problem });
        }
        let skip = Skip { stage: stage.name.clone(), step: step.to_owned(), reason };
        if self.0.skip(id, &skip).await? {
            return self.find(id).await;
        }
        let now = operation.step.as_deref().unwrap_or("none");
        conflict(format!(
            "operation {id} is not at step {step}, or is about to end; its step is {now}"
        ))
    }

    /// Ends it as failed now, whatever its step does.
    pub async fn abandon(
        &self,
        id: OperationId,
        reason: String,
    ) -> Result<Snapshot, OperationsError> {
        not_a_driver(&self.find(id).await?)?;
        let ended = self.0.abandon(id, reason).await?;
        let snapshot = self.find(id).await?;
        if ended { Ok(snapshot) } else { Err(OperationsError::Ended(id)) }
    }
}

/// An orchestration without its driver would have ended while its upgrades go on, and its customers would not be notified.
fn not_a_driver(operation: &Snapshot) -> Result<(), OperationsError> {
    if operation.kind != DRIVER || operation.state.is_final() {
        return Ok(());
    }
    let Snapshot { id, instance, .. } = operation;
    conflict(format!(
        "operation {id} drives orchestration {instance}: cancel that one (kcp orchestrations {instance} cancel, or PUT /orchestrations/{instance}/cancel)"
    ))
}

fn conflict<T>(text: String) -> Result<T, OperationsError> {
    Err(OperationsError::Conflict(text))
}

/// A retry begins alone, or not at all.
fn alone(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}
