//! Looks every now and then whether what is in hand is still held here, and stops the steps of what is not.
//!
//! What a reader would get wrong: this is not the fence. An operator who abandons an operation raises its epoch, so that nothing of
//! its owner is stored any more; but the step that runs would go on calling outside systems until its next commit. The store
//! lets the next operation of the instance begin only after [`STOPPED_AFTER`], when the step is gone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    drive::Incarnation,
    planted::Planted,
    storage::{LOOK, OperationId, ReplicaId, Storage, StorageError},
};

/// Everything that one incarnation has in hand.
#[derive(Default)]
pub(crate) struct Watch(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    last: u64,
    all: BTreeMap<u64, Entry>,
}

#[derive(Clone)]
struct Entry {
    id: OperationId,
    epoch: i64,
    stopped: CancellationToken,
}

/// One operation in hand, until it is dropped.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    number: u64,
    /// Set when the operation is not held here any more.
    pub(crate) stopped: CancellationToken,
}

impl Watch {
    /// From now on this operation is looked for.
    pub(crate) fn watch(self: &Arc<Self>, id: OperationId, epoch: i64) -> Watched {
        let stopped = CancellationToken::new();
        let mut entries = self.entries();
        entries.last += 1;
        let number = entries.last;
        entries.all.insert(number, Entry { id, epoch, stopped: stopped.clone() });
        Watched { watch: self.clone(), number, stopped }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what the store does not know as this replica's any more. One statement, and none when nothing is in hand.
    async fn look<S: Storage>(&self, storage: &S, replica: ReplicaId) -> Result<(), StorageError> {
        let entries: Vec<Entry> = self.entries().all.values().cloned().collect();
        if entries.is_empty() {
            return Ok(());
        }
        let in_hand: Vec<_> = entries.iter().map(|entry| (entry.id, entry.epoch)).collect();
        let lost = storage.lost(replica, &in_hand).await?;
        // The tokens from before the look: what was claimed again meanwhile has another one.
        for entry in entries.iter().filter(|entry| lost.contains(&(entry.id, entry.epoch))) {
            info!(operation.id = %entry.id, "operation {} is not held here any more, its step stops", entry.id);
            entry.stopped.cancel();
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.entries().all.remove(&self.number);
    }
}

/// Looks until the lease is lost or the process dies.
pub(crate) async fn keep_looking<S: Storage>(
    storage: Arc<S>,
    clock: Clock,
    incarnation: Arc<Incarnation>,
) {
    if incarnation.settings.planted.is(Planted::AbandonedGoOn) {
        return;
    }
    let looks = async {
        let mut pause = LOOK;
        loop {
            clock.sleep(pause).await;
            pause = match incarnation.watch.look(&*storage, incarnation.lease.replica).await {
                Ok(()) => LOOK,
                Err(error) => {
                    warn!(%error, "database unavailable, looking again for what is not held any more");
                    LOOK / 20
                }
            };
        }
    };
    tokio::select! {
        biased;
        () = incarnation.is_over() => {}
        () = looks => {}
    }
}
