//! Events of operations, sent to subscribers in this process after the commit.

use base::Failure;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    position::State,
    storage::{OperationId, Outcome},
};

/// One run, or one end, that is stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// The operation.
    pub operation: OperationId,
    /// The instance.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The tenant.
    pub lane: String,
    /// The journal entry that tells the same.
    pub journal: i64,
    /// The stage that ran.
    pub stage: String,
    /// The step that ran.
    pub step: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// Why, for people.
    pub reason: Option<String>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// When the run began.
    pub began_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// When it is tried again.
    pub next_at: Option<Timestamp>,
    /// The operation's state after it.
    pub state: State,
}
