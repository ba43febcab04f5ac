//! One replica: joins, claims what is due, drives it, and joins again when its lease was lost.

mod claiming;
mod heart;

use std::{collections::HashMap, sync::Arc, time::Duration};

use base::Clock;
use tokio::sync::{broadcast, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};

use crate::{
    committer::Committer,
    drive::Incarnation,
    events::Event,
    hooks::Hooks,
    lanes::Lanes,
    lease::Lease,
    memory::Memories,
    opened::AnyPlan,
    planted::PlantedBug,
    settings::Settings,
    signals::Signals,
    storage::{ReplicaId, Storage, StorageError},
    watch::Watch,
};

/// State that all incarnations of a replica share.
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

    /// Works until it is stopped.
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
        if self.settings.planted.is(PlantedBug::LeaseReleasedEarly) {
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
                    warn!(%error, "database unavailable, retrying join");
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
        let incarnation = Arc::new(self.incarnate(lease));
        self.start_heart(&incarnation);
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
            lanes: Lanes::new(workers, !planted.is(PlantedBug::Unfair)),
            memories: Memories::new(memories),
            signals: Arc::new(Signals::default()),
            watch: Arc::new(Watch::new(planted)),
            events: self.events.clone(),
            settings: self.settings.clone(),
            random: self.random.clone(),
            stopping: self.stopping.clone(),
            hooks: self.hooks.clone(),
            crashed: self.crashed.clone(),
        }
    }
}
