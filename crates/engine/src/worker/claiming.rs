//! The claimer: asks for what is due, hands it to drives, and sleeps until there may be more.
//!
//! What a reader would get wrong: notifications only shorten waiting. Without any, the next scan finds what is due.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use super::Replica;
use crate::{
    drive::{DriveResult, Incarnation},
    in_hand::InHand,
    planted::PlantedBug,
    storage::{ClaimRequest, ClaimResult, HeldOperation, Storage, StorageError, Wake},
    watch::WatchGuard,
};

/// How often to look for operations that are held here without being in hand. There are none, unless
/// an answer was lost or a driver died.
const AUDIT: Duration = Duration::from_secs(10);

/// How long free places gather while there is a backlog.
const GATHER: Duration = Duration::from_millis(2);
/// The journals of how many operations are trimmed at a time.
const TRIM: u32 = 1_000;

impl<S: Storage> Replica<S> {
    /// Claims until the lease is lost or the replica stops.
    pub(super) async fn claim_and_drive(
        self: Arc<Self>,
        incarnation: &Arc<Incarnation>,
        drives: &TaskTracker,
    ) {
        let kinds: Vec<(String, i32)> =
            self.plans.iter().map(|(kind, plan)| (kind.clone(), plan.version())).collect();
        let in_hand =
            InHand::new(self.settings.in_hand, !self.settings.planted.is(PlantedBug::Unfair));
        let mut wakes = self.storage.wakes();
        let mut after_lane = String::new();
        let mut next_scan = self.clock.now();
        let mut next_trim = self.clock.now();
        let mut next_audit = self.clock.now() + AUDIT;
        loop {
            let over = self.stopping.is_cancelled() || self.crashed.is_cancelled();
            if over || !incarnation.lease.is_valid() {
                return;
            }
            let now = self.clock.now();
            if now >= next_scan {
                next_scan = now + self.settings.scan;
                tokio::select! {
                    biased;
                    () = incarnation.lease.is_lost() => return,
                    () = self.scan(&mut next_trim, now) => {}
                }
            }
            if now >= next_audit {
                next_audit = now + AUDIT;
                tokio::select! {
                    biased;
                    () = incarnation.lease.is_lost() => return,
                    known = self.release_strays(incarnation, &in_hand) => if !known {
                        next_audit = now;
                    },
                }
            }
            let room = in_hand.room();
            let mut more = room == 0;
            if room > 0 {
                in_hand.forget_due(now);
                let crowded = in_hand.crowded();
                let ask = ClaimRequest {
                    replica: incarnation.lease.replica,
                    kinds: &kinds,
                    room,
                    crowded: &crowded,
                    after_lane: &after_lane,
                };
                let claimed = tokio::select! {
                    biased;
                    // A store that hangs must not keep this replica from noticing.
                    () = incarnation.lease.is_lost() => return,
                    claimed = self.claim(incarnation, &ask) => claimed,
                };
                match claimed {
                    Ok((claimed, last_lane)) => {
                        more = !claimed.is_empty();
                        after_lane = last_lane;
                        for (held, watched) in claimed {
                            let slot = in_hand.take(held.id, &held.lane);
                            let incarnation = incarnation.clone();
                            drives.spawn(async move {
                                let drove = incarnation.drive(held, watched).await;
                                slot.free(match drove {
                                    DriveResult::Sleeps(until) => Some(until),
                                    DriveResult::Ended | DriveResult::Left | DriveResult::Goes => {
                                        None
                                    }
                                });
                            });
                        }
                    }
                    Err(error) => {
                        warn!(%error, "database unavailable, retrying claim");
                        // It may have handed something over without our hearing of it.
                        next_audit = now;
                        self.pause(incarnation).await;
                    }
                }
            }
            if more && in_hand.room() > 0 {
                continue;
            }
            self.wait_for_work(incarnation, &in_hand, &mut wakes, next_scan, more).await;
            if more && in_hand.room() < self.settings.in_hand / 8 {
                // With a backlog, one claim for many free places instead of one for each.
                self.clock.sleep(GATHER).await;
            }
        }
    }

    /// Claims, and watches what was claimed. A look for lost operations that began before the answer came did not name these: they
    /// may have been abandoned meanwhile, so they are looked for on their own. Also returns the lane to go on after.
    async fn claim(
        &self,
        incarnation: &Incarnation,
        ask: &ClaimRequest<'_>,
    ) -> Result<(Vec<(HeldOperation, WatchGuard)>, String), StorageError> {
        let watch = &incarnation.watch;
        let looks = watch.looks();
        let ClaimResult { operations, last_lane, .. } = self.storage.claim(ask).await?;
        let watched: Vec<(HeldOperation, WatchGuard)> = operations
            .into_iter()
            .map(|held| {
                let watched = watch.watch(held.id, held.epoch);
                (held, watched)
            })
            .collect();
        let is_known =
            looks == watch.looks() || self.settings.planted.is(PlantedBug::LateClaimsRun);
        if watched.is_empty() || is_known {
            return Ok((watched, last_lane));
        }
        let in_hand: Vec<_> = watched.iter().map(|(held, _)| (held.id, held.epoch)).collect();
        let lost = self.storage.lost(ask.replica, &in_hand).await?;
        let is_held =
            |(held, _): &(HeldOperation, WatchGuard)| !lost.contains(&(held.id, held.epoch));
        Ok((watched.into_iter().filter(is_held).collect(), last_lane))
    }

    /// Makes what dead replicas held claimable again, and now and then trims the journal.
    async fn scan(&self, next_trim: &mut Timestamp, now: Timestamp) {
        match self.storage.reap().await {
            Ok(0) => {}
            Ok(count) => info!(count, "{count} operations of dead replicas can be taken over"),
            Err(error) => warn!(%error, "dead replicas could not be looked for"),
        }
        if now >= *next_trim {
            match self.storage.trim(now - self.settings.keep_journal, TRIM).await {
                // There may be more: the next scan goes on with it.
                Ok(count) if count >= u64::from(TRIM) => {}
                Ok(_) => *next_trim = now + Duration::from_secs(3600),
                Err(error) => {
                    *next_trim = now + Duration::from_secs(60);
                    warn!(%error, "the journal could not be trimmed");
                }
            }
        }
    }

    /// Lets go of what the store believes to be in our hands and is not. Claims and this never overlap,
    /// so what was just claimed is never let go. `false` when the store did not answer.
    async fn release_strays(&self, incarnation: &Incarnation, in_hand: &InHand) -> bool {
        if self.settings.planted.is(PlantedBug::StraysKept) {
            return true;
        }
        match self.storage.release(incarnation.lease.replica, &in_hand.all()).await {
            Ok(0) => true,
            Ok(count) => {
                warn!(
                    count,
                    "{count} operations were held without being in hand; they are due again"
                );
                true
            }
            Err(error) => {
                warn!(%error, "cannot look for stranded operations");
                false
            }
        }
    }

    async fn pause(&self, incarnation: &Incarnation) {
        tokio::select! {
            biased;
            () = incarnation.lease.is_lost() => {}
            () = self.stopping.cancelled() => {}
            () = self.clock.sleep(Duration::from_millis(100)) => {}
        }
    }

    async fn wait_for_work(
        &self,
        incarnation: &Incarnation,
        in_hand: &InHand,
        wakes: &mut broadcast::Receiver<Wake>,
        next_scan: Timestamp,
        more: bool,
    ) {
        let only_wakes = self.settings.planted.is(PlantedBug::NoScan);
        loop {
            let until = if only_wakes {
                self.clock.now() + Duration::from_secs(3600)
            } else {
                in_hand.next_due().filter(|_| !more).map_or(next_scan, |due| due.min(next_scan))
            };
            tokio::select! {
                biased;
                () = incarnation.lease.is_lost() => return,
                () = self.stopping.cancelled() => return,
                wake = wakes.recv() => match wake {
                    Ok(Wake::Signal(signal)) => {
                        incarnation.signals.note(&signal, self.clock.now());
                        return drain(wakes, incarnation, self.clock.now());
                    }
                    Ok(Wake::Due) | Err(broadcast::error::RecvError::Lagged(_)) => {
                        return drain(wakes, incarnation, self.clock.now());
                    }
                    Err(broadcast::error::RecvError::Closed) => {
                        return self.clock.sleep(self.settings.scan).await;
                    }
                },
                () = in_hand.changed(more) => if more { return },
                () = self.clock.sleep_until(until) => return,
            }
        }
    }
}

/// Takes all further hints: one claim answers them all.
fn drain(wakes: &mut broadcast::Receiver<Wake>, incarnation: &Incarnation, now: Timestamp) {
    while let Ok(wake) = wakes.try_recv() {
        if let Wake::Signal(signal) = wake {
            incarnation.signals.note(&signal, now);
        }
    }
}
