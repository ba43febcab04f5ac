//! What goes to and fro between the engine and its store.

use base::Failure;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{OperationId, ReplicaId, journal::Run};
use crate::position::{Position, State};

/// A new incarnation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedReplica {
    /// Its id; a replica that lost its lease gets a new one.
    pub replica: ReplicaId,
    /// Counts the starts under this name.
    pub incarnation: i64,
    /// The store's time.
    pub now: Timestamp,
}

/// The result of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// Whether the lease was renewed; once `false`, never `true` again for this incarnation.
    pub alive: bool,
    /// The store's time.
    pub now: Timestamp,
}

/// A request for operations.
#[derive(Debug, Clone)]
pub struct ClaimRequest<'a> {
    /// The replica.
    pub replica: ReplicaId,
    /// The kinds it knows, each with the newest data version it can read.
    pub kinds: &'a [(String, i32)],
    /// How many operations it has room for.
    pub room: usize,
    /// Lanes that have their share already.
    pub crowded: &'a [String],
    /// Lanes are served in circular order, beginning after this one.
    pub after_lane: &'a str,
}

/// The claimed operations.
#[derive(Debug, Clone, Default)]
pub struct ClaimResult {
    /// Operations that are now held by the asker.
    pub operations: Vec<HeldOperation>,
    /// The last lane served, for the next [`ClaimRequest`].
    pub last_lane: String,
    /// When nothing was given: the next due time of any operation that is not held, by any owner.
    pub next_due: Option<Timestamp>,
}

/// An operation in the hands of its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOperation {
    /// Its id.
    pub id: OperationId,
    /// The first operation of its line; itself unless it continues another one.
    pub root: OperationId,
    /// The instance.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The version of its data.
    pub data_version: i32,
    /// The tenant, for fair shares.
    pub lane: String,
    /// Under which epoch it is held.
    pub epoch: i64,
    /// Counts the owner's writes; each commit names the one before it.
    pub serial: i64,
    /// How many runs it has had.
    pub runs: i64,
    /// The newest journal entry.
    pub journal: i64,
    /// Where it stands.
    pub position: Position,
    /// Whether it shall end at the next step boundary.
    pub cancel: Option<Cancel>,
    /// The step that shall not run any more.
    pub skip: Option<Skip>,
    /// When it became due.
    pub due_at: Timestamp,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// The request; never changes.
    pub input: Vec<u8>,
    /// Data of the steps.
    pub data: Vec<u8>,
}

/// Asks an operation to end at its next step boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancel {
    /// How it ends: `Failed` when superseded, `Canceled` when called off.
    pub state: State,
    /// Why, for people.
    pub reason: String,
}

/// Asks that a step does not run any more: it is recorded as executed but not completed, and the plan goes on. It counts
/// for as long as the operation lasts, also when the stage starts over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// The stage.
    pub stage: String,
    /// The step; as it is stored, all that were asked for in this stage, with commas between them.
    pub step: String,
    /// Why, for people: of the last request.
    pub reason: String,
}

impl Skip {
    /// Whether this step is one of them.
    pub fn is_of(&self, stage: &str, step: &str) -> bool {
        self.stage == stage && self.step.split(',').any(|one| one == step)
    }

    /// This request after an earlier one: in the same stage, both count.
    #[must_use]
    pub fn after(&self, earlier: Option<&Self>) -> Self {
        let earlier = earlier.filter(|earlier| earlier.stage == self.stage);
        match earlier.filter(|earlier| earlier.step != self.step) {
            Some(earlier) => {
                Self { step: format!("{},{}", earlier.step, self.step), ..self.clone() }
            }
            None => self.clone(),
        }
    }
}

/// One result of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The operation.
    pub id: OperationId,
    /// The epoch under which it is held.
    pub epoch: i64,
    /// The serial of the write before; lands as `serial + 1`.
    pub serial: i64,
    /// Where it stands now.
    pub position: Position,
    /// The next owner or due time.
    pub then: AfterCommit,
    /// The run that led here; `None` for a save in the middle of a run.
    pub run: Option<Run>,
    /// The data, when it changed.
    pub data: Option<Vec<u8>>,
    /// The version of the data.
    pub data_version: i32,
    /// Changes to other rows, in the same transaction.
    pub changes: Vec<Change>,
}

/// Ownership of an operation after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterCommit {
    /// Its owner goes on with it.
    Hold,
    /// No replica holds it until it is due or signalled.
    Sleep {
        /// When it is due.
        until: Timestamp,
        /// The signal that wakes it earlier.
        awaits: Option<String>,
    },
    /// It is final; the next operation of the instance is admitted.
    End,
}

/// A change to a row that is not the operation's, applied inside the same fenced commit by a handler
/// that the service registers with the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which handler applies it.
    pub topic: String,
    /// The body of the change.
    pub body: serde_json::Value,
}

/// The result of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitResult {
    /// It is stored.
    Yes {
        /// The newest journal entry.
        journal: i64,
        /// Whether the operation shall end at this boundary.
        cancel: Option<Cancel>,
    },
    /// Nothing was stored: the writer does not own the operation (any more), or wrote it already.
    Fenced,
    /// Nothing was stored: a change to another row was refused.
    Rejected(String),
}

/// The ownership of an operation, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnershipView {
    /// The operation's epoch.
    pub epoch: i64,
    /// The serial of its last write.
    pub serial: i64,
    /// Its owner.
    pub owner: Option<ReplicaId>,
    /// Whether that owner's lease lives.
    pub owner_alive: bool,
    /// The newest journal entry.
    pub journal: i64,
    /// Whether it shall end.
    pub cancel: Option<Cancel>,
}

/// A hint that something may be due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Something is due, or was asked to end.
    Due,
    /// A signal was given.
    Signal(String),
}

/// An operation as it is stored, for readers. What is serialised is what operators see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// Its id.
    pub id: OperationId,
    /// The first operation of its line.
    pub root: OperationId,
    /// The instance.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The version of its data.
    #[serde(skip)]
    pub data_version: i32,
    /// The tenant.
    #[serde(skip)]
    pub lane: String,
    /// Its state.
    pub state: State,
    /// The open stage.
    pub stage: Option<String>,
    /// The step that runs next.
    pub step: Option<String>,
    /// Finished stages.
    pub closed: Vec<String>,
    /// Steps executed but not completed.
    pub incomplete: Vec<String>,
    /// The clock of the step that runs next.
    #[serde(skip)]
    pub failing_since: Option<Timestamp>,
    /// The clock of the step that runs next.
    #[serde(skip)]
    pub waiting_since: Option<Timestamp>,
    /// Why it waits, or what it said last.
    pub note: Option<String>,
    /// The last failure.
    pub failure: Option<Failure>,
    /// How many runs it has had.
    pub runs: i64,
    /// The owner.
    pub owner: Option<ReplicaId>,
    /// The ownership's epoch.
    #[serde(skip)]
    pub epoch: i64,
    /// Whether its owner works on it right now.
    #[serde(skip)]
    pub held: bool,
    /// When it is due; `None` while it waits behind another one, and when it is final.
    pub due_at: Option<Timestamp>,
    /// Whether it shall end.
    pub cancel: Option<Cancel>,
    /// The step that shall not run any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<Skip>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it left `pending`.
    pub started_at: Option<Timestamp>,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// When it became final.
    pub ended_at: Option<Timestamp>,
    /// The request. Not for readers outside.
    #[serde(skip)]
    pub input: Vec<u8>,
    /// Data of the steps. Not for readers outside.
    #[serde(skip)]
    pub data: Vec<u8>,
}
