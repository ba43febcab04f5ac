//! Looks every now and then whether what is in hand is still held here, and stops the steps of what is not.
//!
//! What a reader would get wrong: this is not the fence. An operator who abandons an operation raises its epoch, so that nothing of
//! its owner is stored any more; but the step that runs would go on calling outside systems until its next commit. The store
//! lets the next operation of the instance begin only after [`STOPPED_AFTER`], when the step is gone. So a look counts for less than
//! that: when the database cannot be read for longer, everything in hand stops, whether it was abandoned or not.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    drive::Incarnation,
    planted::Planted,
    storage::{Heart, LOOK, OperationId, ReplicaId, STOPPED_AFTER, Storage, StorageError},
};

/// For how long a look counts, from the moment it was sent. The rest of [`STOPPED_AFTER`] is for clocks that do not run alike.
const COUNTS: Duration = STOPPED_AFTER.saturating_sub(Duration::from_millis(400));

/// Everything that one incarnation has in hand.
#[derive(Default)]
pub(crate) struct Watch {
    entries: Mutex<Entries>,
    /// Whether somebody looks. Without, what is in hand counts as held for as long as the lease.
    looks: AtomicBool,
}

#[derive(Default)]
struct Entries {
    last: u64,
    all: BTreeMap<u64, Entry>,
}

#[derive(Clone)]
struct Entry {
    id: OperationId,
    epoch: i64,
    proof: Proof,
}

/// Whether an operation is held here, as far as this replica knows.
#[derive(Clone)]
pub(crate) struct Proof {
    stopped: CancellationToken,
    clock: Clock,
    /// On the clock's monotonic scale, in nanoseconds.
    counts_until: Arc<AtomicU64>,
}

/// One operation in hand, until it is dropped.
pub(crate) struct Watched {
    watch: Arc<Watch>,
    number: u64,
    pub(crate) proof: Proof,
}

impl Proof {
    /// Whether the operation is not held here any more, or may not be.
    pub(crate) fn is_over(&self) -> bool {
        self.stopped.is_cancelled() || self.is_old()
    }

    /// Resolves when the operation is not held here any more, or may not be.
    pub(crate) async fn over(&self) {
        self.stopped.cancelled().await;
    }

    fn is_old(&self) -> bool {
        nanoseconds(self.clock.monotonic()) >= self.counts_until.load(Ordering::Acquire)
    }

    fn renew(&self, sent: Duration) {
        self.counts_until.fetch_max(nanoseconds(sent + COUNTS), Ordering::AcqRel);
    }
}

impl Watch {
    /// From now on this operation is looked for. `claimed`: when its claim was sent, on the clock's monotonic scale.
    pub(crate) fn watch(
        self: &Arc<Self>,
        (id, epoch): (OperationId, i64),
        clock: &Clock,
        claimed: Duration,
    ) -> Watched {
        let looks = self.looks.load(Ordering::Acquire);
        let until = if looks { nanoseconds(claimed + COUNTS) } else { u64::MAX };
        let proof = Proof {
            stopped: CancellationToken::new(),
            clock: clock.clone(),
            counts_until: Arc::new(AtomicU64::new(until)),
        };
        let mut entries = self.entries();
        entries.last += 1;
        let number = entries.last;
        entries.all.insert(number, Entry { id, epoch, proof: proof.clone() });
        Watched { watch: self.clone(), number, proof }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Entry> {
        self.entries().all.values().cloned().collect()
    }

    /// Stops what the store does not know as this replica's any more. One statement, and none when nothing is in hand.
    async fn look(
        &self,
        heart: &mut impl Heart,
        clock: &Clock,
        replica: ReplicaId,
    ) -> Result<(), StorageError> {
        let (sent, entries) = (clock.monotonic(), self.all());
        if entries.is_empty() {
            return Ok(());
        }
        let in_hand: Vec<_> = entries.iter().map(|entry| (entry.id, entry.epoch)).collect();
        let lost = heart.lost(replica, &in_hand).await?;
        // The proofs from before the look: what was claimed again meanwhile has another one.
        for Entry { id, epoch, proof } in &entries {
            if lost.contains(&(*id, *epoch)) {
                info!(operation.id = %id, "operation {id} is not held here any more, its step stops");
                proof.stopped.cancel();
            } else {
                proof.renew(sent);
            }
        }
        Ok(())
    }

    /// Stops what was not looked at for too long.
    fn stop_old(&self) {
        let stops = |entry: &Entry| entry.proof.is_old() && !entry.proof.stopped.is_cancelled();
        let old: Vec<Entry> = self.all().into_iter().filter(stops).collect();
        if old.is_empty() {
            return;
        }
        warn!(count = old.len(), "database unavailable for {COUNTS:?}, running steps stop");
        for entry in old {
            entry.proof.stopped.cancel();
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.entries().all.remove(&self.number);
    }
}

/// Looks from now on until the lease is lost or the process dies.
pub(crate) fn start_looking<S: Storage>(
    storage: Arc<S>,
    clock: Clock,
    incarnation: Arc<Incarnation>,
) {
    let planted = incarnation.settings.planted;
    if planted.is(Planted::AbandonedGoOn) {
        return;
    }
    incarnation.watch.looks.store(!planted.is(Planted::OldLooksCount), Ordering::Release);
    tokio::spawn(async move {
        tokio::select! {
            biased;
            () = incarnation.is_over() => {}
            () = stop_old(&clock, &incarnation.watch) => {}
            () = keep_looking(&*storage, &clock, &incarnation) => {}
        }
    });
}

/// On a connection that nothing else uses, so that a pool without a free one stops no step.
async fn keep_looking<S: Storage>(storage: &S, clock: &Clock, incarnation: &Incarnation) {
    let (mut heart, mut pause) = (None, LOOK);
    loop {
        clock.sleep(pause).await;
        let look = async {
            let heart = match &mut heart {
                Some(heart) => heart,
                none => none.insert(storage.heart().await?),
            };
            incarnation.watch.look(heart, clock, incarnation.lease.replica).await
        };
        let looked = tokio::select! {
            biased;
            looked = look => looked,
            () = clock.sleep(COUNTS) => Err(StorageError::Unavailable("no answer".into())),
        };
        pause = match looked {
            Ok(()) => LOOK,
            Err(error) => {
                warn!(%error, "database unavailable, looking again for what is not held any more");
                LOOK / 20
            }
        };
    }
}

async fn stop_old(clock: &Clock, watch: &Watch) {
    loop {
        clock.sleep(LOOK / 8).await;
        watch.stop_old();
    }
}
