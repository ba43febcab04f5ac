//! A step, what it sees, and how a run of it may end.

use std::{borrow::Cow, future::Future, time::Duration};

pub use base::failure::StepError;
use base::{Failure, Key};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    operation::Operation,
    plan::{Condition, PlannedStep, Shape},
    retry::Retry,
    saving::{SaveError, Saver},
    storage::{Change, OperationId},
};

/// The context of one run of a step.
pub struct Cx<'a, O: Operation> {
    /// The request.
    pub input: &'a O::Input,
    /// Saved with every outcome, and by [`Cx::save`].
    pub data: &'a mut O::Data,
    /// Never saved; gone when the stage ends, and whenever another replica takes over.
    pub memory: &'a mut O::Memory,
    /// Clients and settings.
    pub env: &'a O::Env,
    /// The plan that the step is in.
    pub plan: &'a Shape,
    /// The time.
    pub now: Timestamp,
    /// The operation.
    pub operation: OperationId,
    /// The operation that this one continues, or itself.
    pub root: OperationId,
    /// The instance.
    pub instance: &'a str,
    /// The tenant.
    pub lane: &'a str,
    pub(crate) changes: &'a mut Vec<Change>,
    pub(crate) notes: &'a mut Vec<String>,
    pub(crate) saver: &'a mut Saver<O::Data>,
}

impl<O: Operation> Cx<'_, O> {
    /// Commits the data now: before a slow or irreversible call. The run goes on.
    pub async fn save(&mut self) -> Result<(), StepError> {
        let changes = std::mem::take(self.changes);
        match self.saver.save(self.data, changes).await {
            Ok(()) => Ok(()),
            Err(SaveError::NotHeld) => Err(StepError::NotHeld),
            Err(SaveError::Refused(reason)) => {
                Err(StepError::transient(Failure::new("store", "save_refused", reason)))
            }
        }
    }

    /// The idempotency key of a call, by a name that no other call of the step has: the same in every run, and in every release whatever
    /// calls come before it. Once released, the name does not change.
    pub fn key(&self, name: &'static str) -> Key {
        Key::named(name)
    }

    /// Changes another row in the same commit as the result of this run.
    pub fn change(&mut self, change: &impl RowChange) -> Result<(), StepError> {
        let body = serde_json::to_value(change).map_err(|error| StepError::internal(&error))?;
        self.changes.push(Change { topic: change.topic().to_owned(), body });
        Ok(())
    }

    /// Leaves a note for people in the journal entry of this run, where the run says nothing else.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

/// A change to a row that is not the engine's.
pub trait RowChange: Serialize {
    /// By which the store finds the handler that applies it.
    fn topic(&self) -> &str;
}

/// One piece of work that is safe to run again.
pub trait Step<O: Operation>: Send + Sync + Sized + 'static {
    /// Stored with every event and shown to operators. Once released, it does not change.
    const NAME: &'static str;
    /// The outside systems that it calls, by their names in the documents. One without which it cannot be in the plan is
    /// named by [`Step::needs`] instead.
    const CALLS: &'static [&'static str] = &[];
    /// How often it is tried, for how long, and what happens then.
    const RETRY: Retry = Retry::DEFAULT;

    /// Does the work, or finds that it is already done.
    fn run(&self, cx: &mut Cx<'_, O>) -> impl Future<Output = StepResult> + Send;

    /// Runs it only when `condition` holds, which sees all that the step sees.
    fn when(self, condition: Condition<O>) -> PlannedStep<O> {
        PlannedStep::new(self).when(condition)
    }

    /// Takes it out of the plan when `on` is false.
    fn switched(self, on: bool) -> PlannedStep<O> {
        PlannedStep::new(self).switched(on)
    }

    /// Takes it out of a plan that does not reach this outside system ([`Plan::reaching`](crate::Plan::reaching)); the plan's table
    /// names the system.
    fn needs(self, system: impl Into<&'static str>) -> PlannedStep<O> {
        PlannedStep::new(self).needs(system)
    }

    /// Orders it inside its stage: by weight, then as written.
    fn weight(self, weight: u32) -> PlannedStep<O> {
        PlannedStep::new(self).weight(weight)
    }

    /// Gives up after failing in a row for this long.
    fn failing_for(self, limit: Duration) -> PlannedStep<O> {
        PlannedStep::new(self).failing_for(limit)
    }

    /// Gives up after waiting for this long.
    fn waiting_for(self, limit: Duration) -> PlannedStep<O> {
        PlannedStep::new(self).waiting_for(limit)
    }

    /// At a limit, goes on without it.
    fn or_skip(self) -> PlannedStep<O> {
        PlannedStep::new(self).or_skip()
    }

    /// At a limit, goes on without it; `what` is then left undone, in words for people.
    fn or_leave(self, what: &'static str) -> PlannedStep<O> {
        PlannedStep::new(self).or_leave(what)
    }

    /// Shows it under another stage name than the one that holds it.
    fn labelled(self, label: &'static str) -> PlannedStep<O> {
        PlannedStep::new(self).labelled(label)
    }
}

/// Whether a step is needed, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applies {
    /// It runs.
    Yes,
    /// It is skipped for this reason.
    No(Cow<'static, str>),
}

impl Applies {
    /// Runs the step if `needed`, otherwise skips it with the reason.
    pub fn when(needed: bool, otherwise: impl Into<Cow<'static, str>>) -> Self {
        if needed { Self::Yes } else { Self::No(otherwise.into()) }
    }
}

/// How a run of a step ended.
pub type StepResult = Result<Ending, StepError>;

/// How a run of a step ended, when it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The work is done.
    Done,
    /// Nothing is wrong, something else has to finish first.
    Wait(Waiting),
    /// The stage starts over after a while, with fresh memory.
    Again {
        /// How long to wait before it does.
        after: Duration,
        /// Why, for people.
        reason: Cow<'static, str>,
    },
    /// The rest of the plan is not needed; the operation succeeds.
    Finish {
        /// Why, for people.
        reason: Cow<'static, str>,
    },
}

/// A wait of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// For people: "the cluster is being made: 40 %". Waits whose reasons differ only behind the first colon are one
    /// entry of the journal, which tells the newest of them.
    pub reason: Cow<'static, str>,
    /// When to look again at the latest; the step's polling interval when absent.
    pub at_latest: Option<Duration>,
    /// The signal that wakes it earlier.
    pub signal: Option<String>,
}

impl Waiting {
    /// Looks again after `interval` at the latest.
    pub fn at_latest(mut self, interval: Duration) -> Self {
        self.at_latest = Some(interval);
        self
    }

    /// Looks again as soon as the signal is given.
    pub fn or_signal(mut self, signal: impl Into<String>) -> Self {
        self.signal = Some(signal.into());
        self
    }
}

impl From<Waiting> for StepResult {
    fn from(waiting: Waiting) -> Self {
        Ok(Ending::Wait(waiting))
    }
}

/// The work is done.
pub fn done() -> StepResult {
    Ok(Ending::Done)
}

/// Not yet: the same step is run again, with its memory, after its polling interval.
pub fn wait(reason: impl Into<Cow<'static, str>>) -> StepResult {
    waiting(reason).into()
}

/// Like [`wait`], to be refined: `waiting("…").or_signal("shoot/x").into()`.
pub fn waiting(reason: impl Into<Cow<'static, str>>) -> Waiting {
    Waiting { reason: reason.into(), at_latest: None, signal: None }
}

/// The stage starts over after a while.
pub fn again(after: Duration, reason: impl Into<Cow<'static, str>>) -> StepResult {
    Ok(Ending::Again { after, reason: reason.into() })
}

/// The rest of the plan is not needed.
pub fn finish(reason: impl Into<Cow<'static, str>>) -> StepResult {
    Ok(Ending::Finish { reason: reason.into() })
}
