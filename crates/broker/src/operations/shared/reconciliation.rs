//! How far the Reconciler is with a configuration, and what that means for the step that waits for it.

use clients::reconciler::{Reconciler, State, Status};
use engine::step::Waiting;

use crate::operations::prelude::*;

/// How far it is.
pub(in crate::operations) enum Reconciliation {
    /// It is applied.
    Done,
    /// It is worked on; with what the Reconciler says about components that failed.
    Going(Waiting, String),
}

/// Reads how far a configuration is; one that cannot be applied is a failure of the operation.
pub(in crate::operations) async fn read(
    reconciler: &Reconciler,
    runtime: &str,
    version: i64,
) -> Result<Reconciliation, StepError> {
    let state = reconciler.status(runtime, version).await?;
    let state = state.ok_or_else(|| stopped("gone", "the Reconciler has lost the cluster"))?;
    let said = failure_texts(&state);
    match &state.status {
        Status::Ready => Ok(Reconciliation::Done),
        Status::ReconcilePending | Status::Reconciling => {
            Ok(Reconciliation::Going(waiting("the Reconciler installs Kyma"), said))
        }
        Status::ReconcileErrorRetryable => {
            let text = with("the Reconciler tries again after an error", &said);
            Ok(Reconciliation::Going(waiting(text).at_latest(mins(10)), said))
        }
        Status::Error => {
            let names: Vec<&str> = state.failures.iter().map(|it| it.component.as_str()).collect();
            let reason = if names.is_empty() { "error".into() } else { names.join(", ") };
            let text = with("the Reconciler could not install Kyma", &said);
            Err(stopped(&reason, &text))
        }
        other => {
            let text = format!("the Reconciler says \"{other}\"");
            Err(stopped("unexpected_status", &text))
        }
    }
}

/// A text, and what the Reconciler said if it said something.
pub(in crate::operations) fn with(text: &str, said: &str) -> String {
    if said.is_empty() { text.to_owned() } else { format!("{text}: {said}") }
}

fn failure_texts(state: &State) -> String {
    let each = state.failures.iter().map(|it| format!("{}: {}", it.component, it.reason));
    each.collect::<Vec<_>>().join("; ")
}

/// A failure of the Reconciler that no further run can help with.
pub(in crate::operations) fn stopped(reason: &str, text: &str) -> StepError {
    StepError::fatal(Failure::new("reconciler", reason, text))
}
