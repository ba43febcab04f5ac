//! Everything in hand, and the look whether it is still held here: steps of lost operations stop.
//!
//! What a reader would get wrong: this is not the fence. An operator who abandons an operation raises its epoch, so that nothing of
//! its owner is stored any more; but the step that runs would go on calling outside systems until its next commit. The store
//! lets the next operation of the instance begin only when the owner's lease ends as it was stored at that moment, and the
//! owner renews its lease only together with a look ([`Lease::keep`](crate::lease::Lease::keep)). Only an answer that names an
//! operation stops its step; a look without an answer stops nothing but the renewal.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::{
    planted::PlantedBug,
    storage::{Heart, OperationId, ReplicaId, StorageError},
};

/// Everything that one incarnation has in hand.
pub(crate) struct Watch {
    entries: Mutex<Entries>,
    planted: PlantedBug,
}

#[derive(Default)]
struct Entries {
    last: u64,
    all: BTreeMap<u64, Entry>,
    /// How many looks have begun.
    looks: u64,
}

#[derive(Clone)]
struct Entry {
    id: OperationId,
    epoch: i64,
    stopped: CancellationToken,
}

/// One operation in hand, until it is dropped.
pub(crate) struct WatchGuard {
    watch: Arc<Watch>,
    number: u64,
    /// Set when the operation is not held here any more.
    pub(crate) stopped: CancellationToken,
}

impl Watch {
    pub(crate) fn new(planted: PlantedBug) -> Self {
        Self { entries: Mutex::default(), planted }
    }

    /// From now on every look names this operation.
    pub(crate) fn watch(self: &Arc<Self>, id: OperationId, epoch: i64) -> WatchGuard {
        let stopped = CancellationToken::new();
        let mut entries = self.entries();
        entries.last += 1;
        let number = entries.last;
        entries.all.insert(number, Entry { id, epoch, stopped: stopped.clone() });
        WatchGuard { watch: self.clone(), number, stopped }
    }

    /// How many looks have begun.
    pub(crate) fn looks(&self) -> u64 {
        self.entries().looks
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what the store does not know as this replica's any more. One statement, and none when nothing is in hand.
    pub(crate) async fn look(
        &self,
        heart: &mut impl Heart,
        replica: ReplicaId,
        clock: &Clock,
    ) -> Result<(), StorageError> {
        let entries: Vec<Entry> = {
            let mut entries = self.entries();
            entries.looks += 1;
            entries.all.values().cloned().collect()
        };
        if entries.is_empty() || self.planted.is(PlantedBug::AbandonedGoOn) {
            return Ok(());
        }
        let in_hand: Vec<_> = entries.iter().map(|entry| (entry.id, entry.epoch)).collect();
        let lost = if self.planted.is(PlantedBug::UnansweredLooksCount) {
            tokio::select! {
                biased;
                lost = heart.lost(replica, &in_hand) => lost.unwrap_or_default(),
                () = clock.sleep(Duration::from_millis(50)) => Vec::new(),
            }
        } else {
            heart.lost(replica, &in_hand).await?
        };
        // The tokens from before the look: what was claimed again meanwhile has another one.
        for entry in entries.iter().filter(|entry| lost.contains(&(entry.id, entry.epoch))) {
            info!(operation.id = %entry.id, "operation {} is not held here any more, its step stops", entry.id);
            entry.stopped.cancel();
        }
        Ok(())
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        self.watch.entries().all.remove(&self.number);
    }
}
