//! Why is it waiting: the reason, since when, the next try, and what happens at the limit.

use base::Failure;
use jiff::Timestamp;
use serde::Serialize;

use crate::{plan::Shape, position::State, retry::AtLimit, storage::Snapshot};

/// Why an operation does not go on right now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Its kind.
    pub kind: Standstill,
    /// Why, for people.
    pub reason: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// When it is tried next.
    pub next_try: Option<Timestamp>,
    /// The step.
    pub step: Option<String>,
    /// Its place in the plan: "step 7 of 17".
    pub place: Option<String>,
    /// When the step's limit is reached, unless the operation's comes first.
    pub limit_at: Option<Timestamp>,
    /// The action at the limit.
    pub at_limit: Option<String>,
    /// The last failure.
    pub failure: Option<Failure>,
}

/// The kinds of standing still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standstill {
    /// It is final.
    Ended,
    /// A step of it runs right now.
    Running,
    /// It is due; no replica has picked it up yet.
    Due,
    /// Another operation of the instance is before it.
    Queued,
    /// A step waits for something.
    Waiting,
    /// A step failed and is tried again.
    Failing,
}

/// Explains a stored operation with the plan it follows.
pub fn explain(shape: Option<&Shape>, operation: &Snapshot, now: Timestamp) -> Explanation {
    let place = operation.stage.as_deref().zip(operation.step.as_deref());
    let found = shape.zip(place).and_then(|(shape, (stage, step))| {
        let (stage_at, step_at) = shape.find(stage, step)?;
        let before: usize = shape.stages[..stage_at].iter().map(|stage| stage.steps.len()).sum();
        Some((&shape.stages[stage_at].steps[step_at], before + step_at + 1, shape.steps()))
    });
    let retry = found.map(|(step, ..)| step.retry);
    let failing =
        operation.failing_since.zip(retry).map(|(since, retry)| since + retry.failing_for);
    let waiting = operation
        .waiting_since
        .zip(retry.and_then(|retry| retry.waiting_for))
        .map(|(since, limit)| since + limit);
    let whole = operation.started_at.zip(shape).map(|(since, shape)| since + shape.limit);
    let step_limit = failing.into_iter().chain(waiting).min();
    let limit_at = step_limit.into_iter().chain(whole).min();
    let at_limit = limit_at.map(|limit| match retry.map(|retry| retry.at_limit) {
        Some(AtLimit::Skip) if Some(limit) == step_limit => {
            "the step is recorded as executed but not completed, and the plan goes on".to_owned()
        }
        _ => "the operation fails".to_owned(),
    });
    let (kind, reason, since) = standstill(operation, now);
    let ended = kind == Standstill::Ended;
    Explanation {
        kind,
        reason,
        since,
        next_try: operation.due_at.filter(|_| !operation.held && !ended),
        step: operation.step.clone(),
        place: found.map(|(_, at, of)| format!("step {at} of {of}")),
        limit_at: limit_at.filter(|_| !ended),
        at_limit: at_limit.filter(|_| !ended),
        failure: operation.failure.clone(),
    }
}

fn standstill(operation: &Snapshot, now: Timestamp) -> (Standstill, String, Option<Timestamp>) {
    let said = |otherwise: &str| operation.note.clone().unwrap_or_else(|| otherwise.to_owned());
    if operation.state.is_final() {
        return (Standstill::Ended, said("it has ended"), operation.ended_at);
    }
    let Some(due_at) = operation.due_at else {
        let reason = "another operation of the same instance is before it".to_owned();
        return (Standstill::Queued, reason, Some(operation.created_at));
    };
    if operation.held {
        return (Standstill::Running, "a step runs".to_owned(), Some(operation.updated_at));
    }
    if let Some(since) = operation.failing_since {
        return (Standstill::Failing, said("the step failed"), Some(since));
    }
    if due_at <= now {
        return (Standstill::Due, "it is due and waits for a free place".to_owned(), Some(due_at));
    }
    let is_put_off = due_at > operation.created_at;
    if operation.state == State::Pending && operation.runs == 0 && is_put_off {
        let reason = "the operation before it was abandoned, and its step is given time to stop";
        return (Standstill::Queued, reason.to_owned(), Some(operation.created_at));
    }
    (Standstill::Waiting, said("the step waits"), operation.waiting_since)
}
