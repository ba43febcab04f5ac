//! The contract itself: each call is an inherent method whose name begins with the same verb.

use std::time::Duration;

use ::engine::{
    OperationId, ReplicaId, Storage, StorageError,
    storage::{
        Acceptance, Cancel, ClaimRequest, ClaimResult, Commit, CommitResult, Entry, JoinedReplica,
        NewOperation, OwnershipView, Pairs, Skip, Snapshot, Wake,
    },
};
use base::Failure;
use jiff::Timestamp;
use tokio::sync::broadcast;

use super::{EngineHeart, EngineStore, accept::Candidate, lost};

impl Storage for EngineStore {
    type Heart = EngineHeart;

    async fn join(&self, name: &str, lease: Duration) -> Result<JoinedReplica, StorageError> {
        Ok(self.join_as(name, lease).await?)
    }

    async fn heart(&self) -> Result<EngineHeart, StorageError> {
        Ok(EngineHeart::open(self.clone()).await?)
    }

    async fn leave(&self, replica: ReplicaId) -> Result<(), StorageError> {
        Ok(self.leave_as(replica).await?)
    }

    async fn reap(&self) -> Result<u64, StorageError> {
        Ok(self.reap_dead().await?)
    }

    async fn release(
        &self,
        replica: ReplicaId,
        in_hand: &[OperationId],
    ) -> Result<u64, StorageError> {
        Ok(self.release_strays(replica, in_hand).await?)
    }

    async fn lost(
        &self,
        replica: ReplicaId,
        in_hand: &[(OperationId, i64)],
    ) -> Result<Vec<(OperationId, i64)>, StorageError> {
        Ok(lost::on_pool(self.database.reader(), replica, in_hand).await?)
    }

    async fn claim(&self, ask: &ClaimRequest<'_>) -> Result<ClaimResult, StorageError> {
        Ok(self.claim_due(ask).await?)
    }

    async fn commit(
        &self,
        replica: ReplicaId,
        batch: &[Commit],
    ) -> Result<Vec<CommitResult>, StorageError> {
        self.commit_batch(replica, batch).await
    }

    async fn look(&self, ids: &[OperationId]) -> Result<Vec<Option<OwnershipView>>, StorageError> {
        Ok(self.look_at(ids).await?)
    }

    async fn accept(
        &self,
        new: NewOperation,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, StorageError> {
        let root = new.id;
        Ok(self.accept_candidate(&Candidate { new, root, closed: Vec::new() }, pairs).await?)
    }

    async fn request_cancel(&self, id: OperationId, cancel: &Cancel) -> Result<bool, StorageError> {
        Ok(self.request_cancel_of(id, cancel).await?)
    }

    async fn request_skip(&self, id: OperationId, skip: &Skip) -> Result<bool, StorageError> {
        Ok(self.request_skip_of(id, skip).await?)
    }

    async fn abandon(&self, id: OperationId, failure: &Failure) -> Result<bool, StorageError> {
        Ok(self.abandon_now(id, failure).await?)
    }

    async fn signal(&self, signal: &str) -> Result<(), StorageError> {
        Ok(self.signal_waiting(signal).await?)
    }

    async fn continue_from(
        &self,
        old: OperationId,
        new: OperationId,
        pairs: &Pairs<'_>,
    ) -> Result<Acceptance, StorageError> {
        let candidate = self.continuation(old, new).await?;
        Ok(self.accept_candidate(&candidate, pairs).await?)
    }

    async fn read(&self, id: OperationId) -> Result<Option<Snapshot>, StorageError> {
        Ok(self.read_one(id).await?)
    }

    async fn journal(&self, id: OperationId) -> Result<Vec<Entry>, StorageError> {
        Ok(self.journal_of(id).await?)
    }

    async fn trim(&self, before: Timestamp, most: u32) -> Result<u64, StorageError> {
        Ok(self.trim_journal(before, most).await?)
    }

    fn wakes(&self) -> broadcast::Receiver<Wake> {
        self.wakes.subscribe()
    }
}
