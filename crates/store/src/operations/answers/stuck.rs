//! Which operations are stuck: those that make no progress for longer than usual, or than their step may take.
//!
//! What a reader would get wrong: a step that waits for its next try is not stuck. It is once it has been waiting or failing for twice
//! as long as 95 of 100 operations need for the step, and not before five minutes; where nothing is known of the step, once it
//! has reached its limit.

use std::time::Duration;

use ::engine::{
    Explanation, OperationId, Shape,
    explain::{Standstill, explain},
    plan::StepShape,
    storage::Snapshot,
};
use jiff::Timestamp;
use serde::Serialize;

use super::{elapsed, reason, steps::UsualDurations};

/// Less is never called stuck.
const SHORTEST: Duration = Duration::from_mins(5);
/// How many times the usual time.
const TIMES: u32 = 2;
/// How much longer than its limit a run may take: the engine ends it at the limit.
const GRACE: Duration = Duration::from_mins(1);
/// The limit of a run of a step that this program does not know.
const UNKNOWN: Duration = Duration::from_mins(10);

/// An operation that is stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StuckOperation {
    /// The operation.
    pub operation: OperationId,
    /// The instance.
    pub instance: String,
    /// Its kind.
    pub kind: String,
    /// The stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The step at which it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How it stands there.
    pub standing: Standstill,
    /// Since when there is no progress.
    pub since: Timestamp,
    /// For how long, in seconds.
    pub present_seconds: u64,
    /// How long that usually takes at most, in seconds: what 95 of 100 operations stay within.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_seconds: Option<u64>,
    /// The exceeded limit.
    pub beyond: ExceededLimit,
    /// Why it stands there.
    pub reason: String,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try: Option<Timestamp>,
    /// When its limit is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_at: Option<Timestamp>,
    /// The action at the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_limit: Option<String>,
}

/// The limit that a stuck operation has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceededLimit {
    /// Twice the usual time of its step.
    UsualOfStep,
    /// Twice the usual time of its kind.
    UsualOfKind,
    /// The limit of its step.
    Limit,
    /// The limit of one run of its step.
    Run,
    /// The time within which a replica takes what is due.
    Due,
}

/// The finding: what is exceeded, since when there is no progress, and how long that usually takes.
struct Finding {
    beyond: ExceededLimit,
    since: Timestamp,
    usual: Option<Duration>,
}

/// Whether an operation is stuck. With `usuals`, by the usual times too.
pub(super) fn judge(
    operation: &Snapshot,
    shape: Option<&Shape>,
    usuals: Option<&UsualDurations>,
    now: Timestamp,
) -> Option<StuckOperation> {
    let explained = explain(shape, operation, now);
    let found = finding(operation, shape, usuals, &explained, now)?;
    let reason = Some(reason(operation)).filter(|reason| !reason.is_empty());
    Some(StuckOperation {
        operation: operation.id,
        instance: operation.instance.clone(),
        kind: operation.kind.clone(),
        stage: operation.stage.clone(),
        step: operation.step.clone(),
        standing: explained.kind,
        since: found.since,
        present_seconds: elapsed(found.since, now).as_secs(),
        usual_seconds: found.usual.map(|usual| usual.as_secs()),
        beyond: found.beyond,
        reason: reason.unwrap_or(explained.reason),
        next_try: explained.next_try,
        limit_at: explained.limit_at,
        at_limit: explained.at_limit,
    })
}

fn finding(
    operation: &Snapshot,
    shape: Option<&Shape>,
    usuals: Option<&UsualDurations>,
    explained: &Explanation,
    now: Timestamp,
) -> Option<Finding> {
    let found = |beyond, since, usual| Some(Finding { beyond, since, usual });
    match explained.kind {
        Standstill::Ended | Standstill::Queued => return None,
        Standstill::Running => {
            let since = operation.updated_at;
            let deadline = step_of(operation, shape).map_or(UNKNOWN, |step| step.retry.deadline);
            if elapsed(since, now) > deadline + GRACE {
                return found(ExceededLimit::Run, since, None);
            }
        }
        Standstill::Due | Standstill::Waiting | Standstill::Failing => {
            let due_at = operation.due_at.filter(|due| elapsed(*due, now) > SHORTEST);
            if let Some(due_at) = due_at {
                return found(ExceededLimit::Due, due_at, None);
            }
        }
    }
    let clocks = [operation.waiting_since, operation.failing_since];
    let since = clocks.into_iter().flatten().min()?;
    let present = elapsed(since, now);
    if explained.limit_at.is_some_and(|limit| limit < now) {
        return found(ExceededLimit::Limit, since, None);
    }
    let exceeds = |time: Duration, usual: Duration| time > (usual * TIMES).max(SHORTEST);
    let step = operation.step.as_deref()?;
    match usuals?.of_step(&operation.kind, step) {
        Some(usual) if exceeds(present, usual) => {
            found(ExceededLimit::UsualOfStep, since, Some(usual))
        }
        Some(_) => None,
        None => {
            let usual = usuals?.of_kind(&operation.kind)?;
            let whole = elapsed(operation.started_at?, now);
            let stands = present > SHORTEST && exceeds(whole, usual);
            stands.then_some(Finding {
                beyond: ExceededLimit::UsualOfKind,
                since,
                usual: Some(usual),
            })
        }
    }
}

fn step_of<'a>(operation: &Snapshot, shape: Option<&'a Shape>) -> Option<&'a StepShape> {
    let (shape, stage) = (shape?, operation.stage.as_deref()?);
    let (stage, step) = shape.find(stage, operation.step.as_deref()?)?;
    shape.stages.get(stage)?.steps.get(step)
}
