//! A replica's right to work.
//!
//! Judged here by a monotonic clock that started *before* the renewal was sent, so a replica stops by
//! itself before its lease can have expired in the store.
//!
//! What a reader would get wrong: a heartbeat counts only when the look for lost operations after it was answered too. So an
//! operation that was abandoned is known here, or the lease is over, before the lease ends that was stored at that moment.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use base::Clock;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{
    planted::PlantedBug,
    storage::{Beat, Heart, ReplicaId, StorageError},
    watch::Watch,
};

/// The lease of one incarnation.
pub(crate) struct Lease {
    pub(crate) replica: ReplicaId,
    clock: Clock,
    length: Duration,
    /// On the clock's monotonic scale, in nanoseconds.
    valid_until: AtomicU64,
    lost: CancellationToken,
}

impl Lease {
    /// A lease that was granted by a request sent at `sent` on the clock's monotonic scale.
    pub(crate) fn granted(
        replica: ReplicaId,
        clock: Clock,
        length: Duration,
        sent: Duration,
    ) -> Arc<Self> {
        let lease = Self {
            replica,
            clock,
            length,
            valid_until: AtomicU64::new(0),
            lost: CancellationToken::new(),
        };
        lease.extend(sent);
        Arc::new(lease)
    }

    fn extend(&self, sent: Duration) {
        let until = sent + self.length.mul_f64(0.9);
        self.valid_until.store(nanoseconds(until), Ordering::Release);
    }

    /// Whether work may go on.
    pub(crate) fn is_valid(&self) -> bool {
        !self.lost.is_cancelled()
            && nanoseconds(self.clock.monotonic()) < self.valid_until.load(Ordering::Acquire)
    }

    /// Whether work may go on, or a planted bug ignores that it may not.
    pub(crate) fn permits(&self, planted: PlantedBug) -> bool {
        self.is_valid() || planted.is(PlantedBug::NoFence)
    }

    /// Gives it up for good.
    pub(crate) fn lose(&self) {
        self.lost.cancel();
    }

    /// Resolves when it is lost.
    pub(crate) async fn is_lost(&self) {
        self.lost.cancelled().await;
    }

    /// Resolves when its time is over, unless it is renewed meanwhile.
    pub(crate) async fn runs_out(&self) {
        self.clock.sleep(self.left()).await;
    }

    fn left(&self) -> Duration {
        Duration::from_nanos(self.valid_until.load(Ordering::Acquire))
            .saturating_sub(self.clock.monotonic())
    }

    /// Renews the lease until it is lost or given up.
    pub(crate) async fn keep(self: Arc<Self>, mut heart: impl Heart, watch: &Watch) {
        let pause = self.length / 4;
        loop {
            tokio::select! {
                biased;
                () = self.lost.cancelled() => return,
                () = self.clock.sleep(pause.min(self.left())) => {}
            }
            let sent = self.clock.monotonic();
            let beat = tokio::select! {
                biased;
                () = self.lost.cancelled() => return,
                beat = self.beat(&mut heart, watch, sent) => beat,
                // A store that does not answer must not keep this replica believing in its lease.
                () = self.clock.sleep(self.left()) => {
                    warn!(replica = %self.replica, "the heartbeat got no answer in time");
                    return self.lose();
                }
            };
            match beat {
                Ok(beat) if beat.alive => self.extend(sent),
                Ok(_) => {
                    warn!(replica = %self.replica, "the store says that the lease is over");
                    return self.lose();
                }
                Err(error) => {
                    debug!(replica = %self.replica, %error, "a heartbeat failed");
                    if self.left().is_zero() {
                        warn!(replica = %self.replica, %error, "the lease could not be renewed in time");
                        return self.lose();
                    }
                    self.clock.sleep((self.length / 20).min(self.left())).await;
                }
            }
        }
    }

    /// Renews the lease in the store, then looks for lost operations: in this order, so that what was abandoned before the
    /// renewal is seen by the look.
    async fn beat(
        &self,
        heart: &mut impl Heart,
        watch: &Watch,
        sent: Duration,
    ) -> Result<Beat, StorageError> {
        let beat = heart.beat(self.replica, self.length).await?;
        if beat.alive {
            self.clock.synchronise(beat.now, sent);
            watch.look(heart, self.replica, &self.clock).await?;
        }
        Ok(beat)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
