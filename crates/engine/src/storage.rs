//! The contract that a store fulfils: beat, claim, commit, look, wake.
//!
//! The engine's promises rest on four rules that every implementation keeps:
//! 1. a write of an operation lands only under the epoch, owner and serial it names, and only while
//!    that owner's lease lives by the *store's* clock;
//! 2. a grant to a new owner raises the epoch; a claim by the same live owner does not;
//! 3. at most one operation of an instance is admitted at a time, guarded by a constraint;
//! 4. the operation that ends admits the next one of its instance in the same transaction.

use std::{future::Future, time::Duration};

use base::Failure;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::position::{Position, State};

/// Names one operation.
pub type OperationId = Uuid;
/// Names one incarnation of one replica.
pub type ReplicaId = Uuid;

/// Everything the engine needs of a store.
pub trait Storage: Send + Sync + 'static {
    /// The part that renews the lease, on a connection of its own.
    type Heart: Heart;

    /// Registers a new incarnation. Earlier incarnations of the same name lose their leases at once.
    fn join(
        &self,
        name: &str,
        lease: Duration,
    ) -> impl Future<Output = Result<Joined, StorageError>> + Send;

    /// Opens the connection that renews the lease; called on the thread that will use it.
    fn heart(&self) -> impl Future<Output = Result<Self::Heart, StorageError>> + Send;

    /// Ends an incarnation: what it still holds becomes due at once, its lease is over.
    fn leave(&self, replica: ReplicaId) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Makes what dead replicas held claimable again; returns how many operations that were. Also
    /// admits what waits behind nothing.
    fn reap(&self) -> impl Future<Output = Result<u64, StorageError>> + Send;

    /// Hands due operations to a replica, fairly between lanes, and marks them held.
    fn claim(
        &self,
        ask: &Ask<'_>,
    ) -> impl Future<Output = Result<Claimed, StorageError>> + Send;

    /// Writes results, each fenced on its own; one answer per commit, in order.
    fn commit(
        &self,
        replica: ReplicaId,
        batch: &[Commit],
    ) -> impl Future<Output = Result<Vec<Landed>, StorageError>> + Send;

    /// Reads what a commit with an unknown result left behind; one answer per id, in order.
    fn look(
        &self,
        ids: &[OperationId],
    ) -> impl Future<Output = Result<Vec<Option<Seen>>, StorageError>> + Send;

    /// Accepts an operation, or does not, as `pairs` says about the unfinished ones of its instance.
    fn accept(
        &self,
        new: NewOperation,
        pairs: &Pairs<'_>,
    ) -> impl Future<Output = Result<Acceptance, StorageError>> + Send;

    /// Asks an operation to end at its next step boundary. `false` when it is final or unknown.
    fn request_cancel(
        &self,
        id: OperationId,
        cancel: &Cancel,
    ) -> impl Future<Output = Result<bool, StorageError>> + Send;

    /// Makes operations that wait for `signal` due now and tells every replica.
    fn signal(&self, signal: &str) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Stores a new operation that continues a final one.
    fn continue_from(
        &self,
        old: OperationId,
        new: OperationId,
        pairs: &Pairs<'_>,
    ) -> impl Future<Output = Result<Acceptance, StorageError>> + Send;

    /// One operation as it is stored.
    fn read(
        &self,
        id: OperationId,
    ) -> impl Future<Output = Result<Option<Snapshot>, StorageError>> + Send;

    /// The journal of one operation, oldest first.
    fn journal(
        &self,
        id: OperationId,
    ) -> impl Future<Output = Result<Vec<Entry>, StorageError>> + Send;

    /// Removes journal entries of operations that ended before `before`, at most `most` operations at
    /// a time; returns how many operations were trimmed.
    fn trim(
        &self,
        before: Timestamp,
        most: u32,
    ) -> impl Future<Output = Result<u64, StorageError>> + Send;

    /// Hints that something may be due. Only shortens waiting: every one of them may be lost.
    fn wakes(&self) -> broadcast::Receiver<Wake>;
}

/// Renews one lease.
pub trait Heart: Send + 'static {
    /// Renews the lease if it still lives, and tells the store's time.
    fn beat(
        &mut self,
        replica: ReplicaId,
        lease: Duration,
    ) -> impl Future<Output = Result<Beat, StorageError>> + Send;
}

/// Decides, from the unfinished operations of one instance, what happens to a new one. Pure.
pub type Pairs<'a> = dyn Fn(&[Unfinished]) -> Verdict + Send + Sync + 'a;

/// A store that did not do what it was asked to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// Nothing was written; another try may succeed.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// It may have been written or not: look before repeating.
    #[error("the store did not say whether it wrote: {0}")]
    Unknown(String),
    /// Nothing was written, and the same call will not succeed.
    #[error("the store refuses: {0}")]
    Refused(String),
}

/// A new incarnation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Its id; a replica that lost its lease gets a new one.
    pub replica: ReplicaId,
    /// Counts the starts under this name.
    pub incarnation: i64,
    /// The store's time.
    pub now: Timestamp,
}

/// What a heartbeat found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// Whether the lease was renewed; once `false`, never `true` again for this incarnation.
    pub alive: bool,
    /// The store's time.
    pub now: Timestamp,
}

/// What a replica asks for.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// Who asks.
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

/// What a replica was given.
#[derive(Debug, Clone, Default)]
pub struct Claimed {
    /// Operations that are now held by the asker.
    pub operations: Vec<Held>,
    /// The last lane served, for the next [`Ask`].
    pub last_lane: String,
    /// When nothing was given: the next due time of any operation that is not held, whoever owns it.
    pub next_due: Option<Timestamp>,
}

/// An operation in the hands of its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Its id.
    pub id: OperationId,
    /// The first operation of its line; itself unless it continues another one.
    pub root: OperationId,
    /// What it works on.
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
    /// When it became due.
    pub due_at: Timestamp,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// What was asked for; never changes.
    pub input: Vec<u8>,
    /// What the steps have learnt.
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
    /// What happens to it next.
    pub then: Then,
    /// The run that led here; `None` for a save in the middle of a run.
    pub run: Option<Run>,
    /// The data, when it changed.
    pub data: Option<Vec<u8>>,
    /// The version of the data.
    pub data_version: i32,
    /// Changes to other rows, in the same transaction.
    pub changes: Vec<Change>,
}

/// What happens to an operation after a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// Its owner goes on with it.
    Hold,
    /// Nobody holds it until it is due or signalled.
    Sleep {
        /// When it is due.
        until: Timestamp,
        /// What may wake it earlier.
        awaits: Option<String>,
    },
    /// It is final; the next operation of the instance is admitted.
    End,
}

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
    /// What went wrong, if something did.
    pub failure: Option<Failure>,
    /// When it is tried again.
    pub next_at: Option<Timestamp>,
    /// The journal entry that this run may be counted into, if that is still the newest one: the
    /// same step waiting for the same reason.
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
    /// The operation reached its limit, or was told to end, before the step ran.
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

/// A change to a row that is not the operation's, applied inside the same fenced commit by a handler
/// that the service registers with the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which handler applies it.
    pub topic: String,
    /// What it needs.
    pub body: serde_json::Value,
}

/// What became of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
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

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
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

/// An operation to be accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOperation {
    /// Its id.
    pub id: OperationId,
    /// What it works on.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The version of its data.
    pub data_version: i32,
    /// The tenant, for fair shares.
    pub lane: String,
    /// What was asked for.
    pub input: Vec<u8>,
    /// What is known already.
    pub data: Vec<u8>,
    /// A keyed digest of the request, to recognise its repetition.
    pub digest: Option<Vec<u8>>,
}

/// An unfinished operation of the instance a new one is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its id.
    pub id: OperationId,
    /// Which plan it follows.
    pub kind: String,
    /// Its state.
    pub state: State,
    /// Whether it is the one that runs; the others wait behind it.
    pub admitted: bool,
    /// The digest of its request.
    pub digest: Option<Vec<u8>>,
    /// Whether it was told to end.
    pub canceling: bool,
}

/// What happens to a request that arrives while another operation is unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is the same request: answer with that operation.
    Same(OperationId),
    /// Store it; it starts when those before it have ended.
    Queue,
    /// Refuse it because of that operation.
    Refuse(OperationId),
    /// Stop these at their next step boundary, and queue.
    Supersede(Vec<OperationId>, String),
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// Stored, and due now.
    Started,
    /// Stored behind the running one.
    Queued,
    /// Nothing stored: this operation answers it.
    Same(OperationId),
    /// Nothing stored: this operation is in the way.
    Refused(OperationId),
}

/// A hint that something may be due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Something is due, or was asked to end.
    Due,
    /// A signal was given.
    Signal(String),
}

/// An operation as it is stored, for readers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// Its id.
    pub id: OperationId,
    /// The first operation of its line.
    pub root: OperationId,
    /// What it works on.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// The version of its data.
    pub data_version: i32,
    /// The tenant.
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
    pub failing_since: Option<Timestamp>,
    /// The clock of the step that runs next.
    pub waiting_since: Option<Timestamp>,
    /// Why it waits, or what it said last.
    pub note: Option<String>,
    /// The last failure.
    pub failure: Option<Failure>,
    /// Who owns it.
    pub owner: Option<ReplicaId>,
    /// The ownership's epoch.
    pub epoch: i64,
    /// Whether its owner works on it right now.
    pub held: bool,
    /// How many runs it has had.
    pub runs: i64,
    /// When it is due; `None` while it waits behind another one, and when it is final.
    pub due_at: Option<Timestamp>,
    /// Whether it shall end.
    pub cancel: Option<Cancel>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it left `pending`.
    pub started_at: Option<Timestamp>,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// When it became final.
    pub ended_at: Option<Timestamp>,
    /// What was asked for. Not for readers outside.
    #[serde(skip)]
    pub input: Vec<u8>,
    /// What the steps have learnt. Not for readers outside.
    #[serde(skip)]
    pub data: Vec<u8>,
}

/// One journal entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its place in the journal of the operation, from 1.
    pub seq: i64,
    /// What it records.
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
    /// Somebody asked it to end.
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
