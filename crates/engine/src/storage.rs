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
use tokio::sync::broadcast;
use uuid::Uuid;

mod acceptance;
mod journal;
mod rows;

pub use acceptance::{Acceptance, NewOperation, Pairs, Unfinished, Verdict};
pub use journal::{Entry, EntryEvent, Outcome, Run};
pub use rows::{
    AfterCommit, Beat, Cancel, Change, ClaimRequest, ClaimResult, Commit, CommitResult,
    HeldOperation, JoinedReplica, OwnershipView, Skip, Snapshot, Wake,
};

/// Names one operation.
pub type OperationId = Uuid;
/// Names one incarnation of one replica.
pub type ReplicaId = Uuid;

/// Everything the engine needs of a store.
pub trait Storage: Send + Sync + 'static {
    /// The part that renews the lease and looks for lost operations, on a connection of its own.
    type Heart: Heart;

    /// Registers a new incarnation. Earlier incarnations of the same name lose their leases at once.
    fn join(
        &self,
        name: &str,
        lease: Duration,
    ) -> impl Future<Output = Result<JoinedReplica, StorageError>> + Send;

    /// Opens the connection that renews the lease; called on the thread that will use it.
    fn heart(&self) -> impl Future<Output = Result<Self::Heart, StorageError>> + Send;

    /// Ends an incarnation: what it still holds becomes due at once, its lease is over.
    fn leave(&self, replica: ReplicaId) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// Makes what dead replicas held claimable again; returns how many operations that were. Also
    /// admits what waits behind nothing.
    fn reap(&self) -> impl Future<Output = Result<u64, StorageError>> + Send;

    /// Lets go of what a replica holds without knowing it: everything but `in_hand`. A claim whose
    /// answer was lost leaves such strays behind. Returns how many there were.
    fn release(
        &self,
        replica: ReplicaId,
        in_hand: &[OperationId],
    ) -> impl Future<Output = Result<u64, StorageError>> + Send;

    /// Which of these operations the replica does not own any more, each with the epoch under which it is in hand.
    fn lost(
        &self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> impl Future<Output = Result<Vec<(OperationId, i64)>, StorageError>> + Send;

    /// Hands due operations to a replica, fairly between lanes, and marks them held.
    fn claim(
        &self,
        ask: &ClaimRequest<'_>,
    ) -> impl Future<Output = Result<ClaimResult, StorageError>> + Send;

    /// Writes results, each fenced on its own; one answer per commit, in order.
    fn commit(
        &self,
        replica: ReplicaId,
        batch: &[Commit],
    ) -> impl Future<Output = Result<Vec<CommitResult>, StorageError>> + Send;

    /// Reads what a commit with an unknown result left behind; one answer per id, in order.
    fn look(
        &self,
        ids: &[OperationId],
    ) -> impl Future<Output = Result<Vec<Option<OwnershipView>>, StorageError>> + Send;

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

    /// Asks that a step of the open stage does not run any more; a later request for the same stage adds to an earlier one, one
    /// for another stage takes its place. What sleeps is woken. `false` when the operation is final, unknown, about to end, or in another stage.
    fn request_skip(
        &self,
        id: OperationId,
        skip: &Skip,
    ) -> impl Future<Output = Result<bool, StorageError>> + Send;

    /// Ends an operation as failed, whatever its step does: its epoch is raised, so that its owner writes nothing more. The
    /// next operation of the instance is admitted. When it was held, whatever is admitted or accepted next of the instance is due
    /// when the owner's lease ends as it is stored now. A heartbeat that renews this lease later finds the operation lost.
    /// `false` when it is final or unknown.
    fn abandon(
        &self,
        id: OperationId,
        failure: &Failure,
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

/// Renews one lease, without waiting for a connection that others use.
pub trait Heart: Send + 'static {
    /// Renews the lease if it still lives, and tells the store's time.
    fn beat(
        &mut self,
        replica: ReplicaId,
        lease: Duration,
    ) -> impl Future<Output = Result<Beat, StorageError>> + Send;

    /// The same as [`Storage::lost`].
    fn lost(
        &mut self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> impl Future<Output = Result<Vec<(OperationId, i64)>, StorageError>> + Send;
}

/// A failed call of the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// Nothing was written; another try may succeed.
    #[error("database unavailable: {0}")]
    Unavailable(String),
    /// It may have been written or not: look before repeating.
    #[error("database: outcome of the write unknown: {0}")]
    Unknown(String),
    /// Nothing was written, and the same call will not succeed.
    #[error("database: write refused: {0}")]
    Refused(String),
}
