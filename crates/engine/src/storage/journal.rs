//! The journal: every run, grant and request, in the order in which they were committed.

use base::Failure;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ReplicaId;
use crate::position::State;

/// One try of one step, as the journal keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The stage.
    pub stage: String,
    /// The step.
    pub step: String,
    /// Which run of the operation it was.
    pub number: i64,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// The reason for waiting, skipping or ending, for people.
    pub reason: Option<String>,
    /// The failure, if there was one.
    pub failure: Option<Failure>,
    /// When it is tried again.
    pub next_at: Option<Timestamp>,
    /// The journal entry that this run may be counted into, if that is still the newest one: the
    /// same step waiting for the same thing. The entry then has the reason of the newest run.
    pub repeats: Option<i64>,
}

/// How a run ended. The strings are stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The work is done.
    Done,
    /// Something else has to finish first.
    Wait,
    /// It failed and is tried again.
    Transient,
    /// The stage starts over.
    Again,
    /// The rest of the plan is not needed.
    Finish,
    /// It failed for good.
    Fatal,
    /// It panicked.
    Panic,
    /// Its condition did not hold.
    Skipped,
    /// It was given up at its limit: executed but not completed.
    GivenUp,
    /// The operation reached its limit, or was requested to end, before the step ran.
    Ended,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Wait,
        Self::Transient,
        Self::Again,
        Self::Finish,
        Self::Fatal,
        Self::Panic,
        Self::Skipped,
        Self::GivenUp,
        Self::Ended,
    ];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Wait => "wait",
            Self::Transient => "transient",
            Self::Again => "again",
            Self::Finish => "finish",
            Self::Fatal => "fatal",
            Self::Panic => "panic",
            Self::Skipped => "skipped",
            Self::GivenUp => "given_up",
            Self::Ended => "ended",
        }
    }
}

/// One journal entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in the journal of the operation, from 1.
    pub seq: i64,
    /// The recorded event.
    pub event: EntryEvent,
    /// The stage, for runs.
    pub stage: Option<String>,
    /// The step, for runs.
    pub step: Option<String>,
    /// The number of the (last) run it stands for.
    pub run: Option<i64>,
    /// How many runs it stands for.
    pub times: i64,
    /// The epoch under which it was written.
    pub epoch: i64,
    /// The replica that wrote it.
    pub replica: Option<ReplicaId>,
    /// When the (first) run began, or the event happened.
    pub began_at: Timestamp,
    /// When the (last) run ended.
    pub ended_at: Timestamp,
    /// How the run ended.
    pub outcome: Option<Outcome>,
    /// Why, for people.
    pub reason: Option<String>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// When it is tried again.
    pub next_at: Option<Timestamp>,
    /// The operation's state after it.
    pub state: State,
    /// The stage that is open after it.
    pub then_stage: Option<String>,
    /// The step that runs next after it.
    pub then_step: Option<String>,
}

/// What a journal entry records. The strings are stored and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryEvent {
    /// The operation was stored.
    Accepted,
    /// It may run: nothing of its instance is before it any more.
    Admitted,
    /// A replica became its owner.
    Taken,
    /// A step ran.
    Run,
    /// A cancellation was requested.
    CancelRequested,
}

impl EntryEvent {
    /// All events.
    pub const ALL: [Self; 5] =
        [Self::Accepted, Self::Admitted, Self::Taken, Self::Run, Self::CancelRequested];

    /// The stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Admitted => "admitted",
            Self::Taken => "taken",
            Self::Run => "run",
            Self::CancelRequested => "cancel_requested",
        }
    }
}
