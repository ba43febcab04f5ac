//! One replica: joins, claims what is due, drives it, and joins again when its lease was lost.

use std::{collections::HashMap, sync::Arc, time::Duration};

use base::Clock;
use jiff::Timestamp;
use tokio::sync::{broadcast, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};

use crate::{
    committer::Committer,
    drive::{Drove, Incarnation},
    events::Event,
    hooks::Hooks,
    in_hand::InHand,
    lanes::Lanes,
    lease::Lease,
    memory::Memories,
    opened::AnyPlan,
    planted::Planted,
    settings::{HeartPlace, Settings},
    signals::Signals,
    storage::{Ask, ReplicaId, Storage, StorageError, Wake},
    watch::start_looking,
};

/// How often to look for operations that are held here without being in hand, unless one was just left. There are none, unless
/// an answer was lost or a driver died.
const AUDIT: Duration = Duration::from_secs(10);

/// How long free places gather while there is a backlog.
const GATHER: Duration = Duration::from_millis(2);
/// The journals of how many operations are trimmed at a time.
const TRIM: u32 = 1_000;

/// What all incarnations of a replica share.
pub(crate) struct Replica<S> {
    pub(crate) storage: Arc<S>,
    pub(crate) clock: Clock,
    pub(crate) settings: Arc<Settings>,
    pub(crate) name: String,
    pub(crate) plans: Arc<HashMap<String, Arc<dyn AnyPlan>>>,
    pub(crate) events: broadcast::Sender<Arc<Event>>,
    pub(crate) random: Arc<std::sync::Mutex<fastrand::Rng>>,
    pub(crate) hooks: Option<Arc<dyn Hooks>>,
    pub(crate) stopping: CancellationToken,
    /// Set when the drain time is over.
    pub(crate) stop_now: CancellationToken,
    /// Set when a test lets the process die.
    pub(crate) crashed: CancellationToken,
    /// The incarnation that lives, if one does.
    pub(crate) alive: watch::Sender<Option<ReplicaId>>,
}

impl<S: Storage> Replica<S> {
    /// Everything of this replica stops where it stands.
    pub(crate) fn kill(&self) {
        self.crashed.cancel();
    }

    /// Works until it is told to stop.
    pub(crate) async fn work(self: Arc<Self>) {
        while !self.stopping.is_cancelled() && !self.crashed.is_cancelled() {
            let Some(incarnation) = self.join().await else { return };
            self.alive.send_replace(Some(incarnation.lease.replica));
            info!(replica = %incarnation.lease.replica, name = self.name, "replica {} works", self.name);
            let drives = TaskTracker::new();
            self.clone().claim_and_drive(&incarnation, &drives).await;
            self.alive.send_replace(None);
            if self.crashed.is_cancelled() {
                return;
            }
            drives.close();
            if self.stopping.is_cancelled() {
                self.leave(&incarnation, &drives).await;
                return;
            }
            warn!(replica = %incarnation.lease.replica, "the lease is lost, joining again as a new incarnation");
            incarnation.lease.lose();
            drives.wait().await;
        }
    }

    /// Finishes what runs, within the drain time, and hands back the rest.
    async fn leave(&self, incarnation: &Incarnation, drives: &TaskTracker) {
        let leave = async {
            if let Err(error) = self.storage.leave(incarnation.lease.replica).await {
                warn!(%error, "the lease could not be given back, it will run out");
            }
        };
        if self.settings.planted.is(Planted::LeaseReleasedEarly) {
            leave.await;
            drives.wait().await;
            return incarnation.lease.lose();
        }
        tokio::select! {
            biased;
            () = drives.wait() => {}
            () = incarnation.lease.is_lost() => {}
            () = self.stop_now.cancelled() => info!("the drain time is over, runs are cut off"),
        }
        // From here on nothing of this incarnation may call or write.
        incarnation.lease.lose();
        drives.wait().await;
        leave.await;
    }

    async fn join(&self) -> Option<Arc<Incarnation>> {
        let mut pause = Duration::from_millis(50);
        let (joined, sent) = loop {
            let sent = self.clock.monotonic();
            let joined = tokio::select! {
                biased;
                () = self.stopping.cancelled() => return None,
                joined = self.storage.join(&self.name, self.settings.lease) => joined,
                // An answer that comes so late brings a lease that is over.
                () = self.clock.sleep(self.settings.lease) => {
                    Err(StorageError::Unavailable("it does not answer".into()))
                }
            };
            match joined {
                Ok(joined) => break (joined, sent),
                Err(error) => {
                    warn!(%error, "the store is away, joining again");
                    tokio::select! {
                        biased;
                        () = self.stopping.cancelled() => return None,
                        () = self.clock.sleep(pause) => {}
                    }
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
            }
        };
        self.clock.synchronise(joined.now, sent);
        let lease = Lease::granted(joined.replica, self.clock.clone(), self.settings.lease, sent);
        self.start_heart(&lease);
        let incarnation = Arc::new(self.incarnate(lease));
        start_looking(self.storage.clone(), self.clock.clone(), incarnation.clone());
        Some(incarnation)
    }

    /// Everything that works under one lease.
    pub(crate) fn incarnate(&self, lease: Arc<Lease>) -> Incarnation {
        let Settings { workers, memories, batch, committers, planted, .. } = *self.settings;
        Incarnation {
            committer: Committer::start(
                self.storage.clone(),
                lease.clone(),
                self.clock.clone(),
                batch,
                committers,
                planted,
            ),
            lease,
            clock: self.clock.clone(),
            plans: self.plans.clone(),
            lanes: Lanes::new(workers, !planted.is(Planted::Unfair)),
            memories: Memories::new(memories),
            signals: Arc::new(Signals::default()),
            watch: Arc::default(),
            events: self.events.clone(),
            settings: self.settings.clone(),
            random: self.random.clone(),
            stopping: self.stopping.clone(),
            hooks: self.hooks.clone(),
            crashed: self.crashed.clone(),
        }
    }

    fn start_heart(&self, lease: &Arc<Lease>) {
        let beats =
            beats(self.storage.clone(), lease.clone(), self.clock.clone(), self.crashed.clone());
        match self.settings.heart {
            HeartPlace::Task => drop(tokio::spawn(beats)),
            HeartPlace::Thread => {
                let lease = lease.clone();
                let thread =
                    std::thread::Builder::new().name("kcp-heart".into()).spawn(move || {
                        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                            Ok(runtime) => runtime.block_on(beats),
                            Err(_) => lease.lose(),
                        }
                    });
                if let Err(error) = thread {
                    warn!(%error, "the heartbeat has no thread; the lease will run out");
                }
            }
        }
    }

    /// Claims until the lease is lost or the replica stops.
    async fn claim_and_drive(
        self: Arc<Self>,
        incarnation: &Arc<Incarnation>,
        drives: &TaskTracker,
    ) {
        let kinds: Vec<(String, i32)> =
            self.plans.iter().map(|(kind, plan)| (kind.clone(), plan.version())).collect();
        let in_hand =
            InHand::new(self.settings.in_hand, !self.settings.planted.is(Planted::Unfair));
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
            if in_hand.take_strays() || now >= next_audit {
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
                let ask = Ask {
                    replica: incarnation.lease.replica,
                    kinds: &kinds,
                    room,
                    crowded: &crowded,
                    after_lane: &after_lane,
                };
                let sent = self.clock.monotonic();
                let claimed = tokio::select! {
                    biased;
                    // A store that hangs must not keep this replica from noticing.
                    () = incarnation.lease.is_lost() => return,
                    claimed = self.storage.claim(&ask) => claimed,
                };
                match claimed {
                    Ok(claimed) => {
                        more = !claimed.operations.is_empty();
                        after_lane = claimed.last_lane;
                        for held in claimed.operations {
                            let slot = in_hand.take(held.id, &held.lane);
                            let incarnation = incarnation.clone();
                            drives.spawn(async move {
                                let drove = incarnation.drive(held, sent).await;
                                match drove {
                                    Drove::Sleeps(until) => slot.free(Some(until)),
                                    Drove::Ended | Drove::Goes => slot.free(None),
                                    Drove::Left => slot.leave(),
                                }
                            });
                        }
                    }
                    Err(error) => {
                        warn!(%error, "the store is away, claiming again");
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
        if self.settings.planted.is(Planted::StraysKept) {
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
                warn!(%error, "strays could not be looked for");
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
        let only_wakes = self.settings.planted.is(Planted::NoScan);
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
                () = in_hand.changed(more) => if more || in_hand.has_strays() { return },
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

async fn beats<S: Storage>(
    storage: Arc<S>,
    lease: Arc<Lease>,
    clock: Clock,
    crashed: CancellationToken,
) {
    let mut tries = 0_u32;
    while lease.is_valid() && !crashed.is_cancelled() {
        let heart = tokio::select! {
            biased;
            heart = storage.heart() => heart,
            () = lease.runs_out() => break,
        };
        match heart {
            Ok(heart) => {
                // A dead process does not beat, and does not know that it is dead.
                tokio::select! {
                    biased;
                    () = crashed.cancelled() => {}
                    () = lease.keep(heart) => {}
                }
                return;
            }
            Err(error) => {
                tries += 1;
                warn!(%error, tries, "the heartbeat has no connection");
                clock.sleep(Duration::from_millis(50 * u64::from(tries.min(10)))).await;
            }
        }
    }
    lease.lose();
}
