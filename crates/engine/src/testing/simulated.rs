//! The store of the deterministic tests: the whole contract in memory, with faults from a seed.
//!
//! Written apart from the SQL, so that a misunderstanding on one side shows up in the contract suite.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base::Clock;
use jiff::Timestamp;
use tokio::sync::broadcast;

mod contract;
mod switch;
mod world;

use switch::Switch;
use world::{Row, World};

use crate::{
    planted::PlantedBug,
    position::{Position, State},
    storage::{
        Acceptance, Cancel, Entry, EntryEvent, NewOperation, OperationId, Pairs, Snapshot,
        StorageError, Verdict, Wake,
    },
};

/// How often the simulated store misbehaves, each between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Faults {
    /// A call fails before anything is written.
    pub unavailable: f64,
    /// A commit, claim or accept is applied, and its answer is lost.
    pub answer_lost: f64,
    /// A commit is not applied, and nobody says so.
    pub vanished: f64,
    /// How many commits get no answer and are applied only after they were looked up.
    pub late: u32,
    /// A notification is lost.
    pub wake_lost: f64,
    /// The longest a call takes.
    pub slowest: Duration,
}

/// One replica's line to the simulated database. Clones of the same line share its pauses.
#[derive(Clone)]
pub struct SimulatedStore {
    world: Arc<Mutex<World>>,
    wakes: broadcast::Sender<Wake>,
    clock: Clock,
    /// The replica's own clock, which may be wrong.
    local: Clock,
    planted: PlantedBug,
    paused: Switch,
    /// While set, looks for lost operations of this line have no answer.
    blind: Switch,
    /// While set, claims of this line land and their answers do not come.
    claims_late: Switch,
    /// With [`PlantedBug::TransactionLeftOpen`]: a call was given up, and what this line writes is never committed.
    left_open: Arc<AtomicBool>,
}

impl SimulatedStore {
    /// An empty database on this clock.
    pub fn new(clock: Clock, seed: u64, faults: Faults, planted: PlantedBug) -> Self {
        let world = World {
            random: fastrand::Rng::with_seed(seed),
            faults,
            replicas: BTreeMap::new(),
            operations: BTreeMap::new(),
            arrivals: 0,
            calls: 0,
            changed: Vec::new(),
            late: Vec::new(),
        };
        Self {
            world: Arc::new(Mutex::new(world)),
            wakes: broadcast::channel(1_024).0,
            local: clock.clone(),
            clock,
            planted,
            paused: Switch::default(),
            blind: Switch::default(),
            claims_late: Switch::default(),
            left_open: Arc::default(),
        }
    }

    /// A line of its own for another replica, whose clock says `local`.
    #[must_use]
    pub fn line(&self, local: Clock) -> Self {
        Self {
            local,
            paused: Switch::default(),
            blind: Switch::default(),
            claims_late: Switch::default(),
            left_open: Arc::default(),
            ..self.clone()
        }
    }

    /// Stops or resumes this line: calls neither leave nor return while it is paused.
    pub fn pause(&self, paused: bool) {
        self.paused.set(paused);
    }

    /// Holds back or answers this line's looks for lost operations.
    pub fn blind(&self, blind: bool) {
        self.blind.set(blind);
    }

    /// Holds back or gives the answers to this line's claims, which land at once.
    pub fn delay_claims(&self, late: bool) {
        self.claims_late.set(late);
    }

    /// From now on, behaves like this.
    pub fn misbehave(&self, faults: Faults) {
        self.lock().faults = faults;
    }

    /// How many calls were made so far.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// The applied changes of other rows.
    pub fn applied_changes(&self) -> Vec<(OperationId, String, serde_json::Value)> {
        self.lock().changed.clone()
    }

    /// All operations, oldest first.
    pub fn all(&self) -> Vec<Snapshot> {
        let world = self.lock();
        let mut rows: Vec<_> = world.operations.iter().collect();
        rows.sort_by_key(|(_, row)| row.arrival);
        rows.into_iter().map(|(id, row)| row.snapshot(*id)).collect()
    }

    /// The journal of one operation, at once and without faults.
    pub fn history(&self, id: OperationId) -> Vec<Entry> {
        self.lock().operations.get(&id).map(|row| row.journal.clone()).unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by which leases are judged.
    fn lease_time(&self) -> Timestamp {
        if self.planted.is(PlantedBug::LocalClock) { self.local.now() } else { self.clock.now() }
    }

    /// Every call takes its time, may find the line paused, and may fail.
    async fn reach(&self) -> Result<(), StorageError> {
        let (delay, fails) = {
            let mut world = self.lock();
            world.calls += 1;
            let slowest = world.faults.slowest;
            let delay = slowest.mul_f64(world.random.f64());
            let fails = world.faults.unavailable;
            (delay, world.random.f64() < fails)
        };
        let given_up = AbandonedCall(self);
        if !delay.is_zero() {
            self.clock.sleep(delay).await;
        }
        self.paused.is_off().await;
        std::mem::forget(given_up);
        if fails { Err(StorageError::Unavailable("simulated".into())) } else { Ok(()) }
    }

    /// Whether what this line writes is lost, because it is stuck inside of a transaction.
    fn is_left_open(&self) -> bool {
        self.left_open.load(Ordering::Relaxed)
    }

    fn wake(&self, wake: Wake) {
        let lost = {
            let mut world = self.lock();
            let lost = world.faults.wake_lost;
            world.random.f64() < lost
        };
        if !lost {
            let _ = self.wakes.send(wake);
        }
    }

    fn insert(
        &self,
        world: &mut World,
        new: NewOperation,
        root: OperationId,
        closed: Vec<String>,
        pairs: &Pairs<'_>,
    ) -> Acceptance {
        let now = self.clock.now();
        if world.operations.contains_key(&new.id) {
            return Acceptance::Same(new.id);
        }
        let mut before: Vec<_> = world
            .operations
            .iter()
            .filter(|(_, row)| row.instance == new.instance && !row.position.state.is_final())
            .map(|(id, row)| (row.arrival, row.unfinished(*id)))
            .collect();
        before.sort_by_key(|(arrival, _)| *arrival);
        let before: Vec<_> = before.into_iter().map(|(_, unfinished)| unfinished).collect();
        match pairs(&before) {
            Verdict::Same(id) => return Acceptance::Same(id),
            Verdict::Refuse(id) => return Acceptance::Refused(id),
            Verdict::Queue => {}
            Verdict::Supersede(ids, reason) => {
                let cancel = Cancel { state: State::Failed, reason };
                for id in ids {
                    world.request_cancel(id, &cancel, now, false);
                }
            }
        }
        let busy =
            world.operations.values().any(|row| row.instance == new.instance && row.is_admitted());
        let admitted = !busy || self.planted.is(PlantedBug::ManyRunning);
        let due = world.due(&new.instance, now);
        world.arrivals += 1;
        let mut row = Row {
            arrival: world.arrivals,
            root,
            instance: new.instance,
            kind: new.kind,
            data_version: new.data_version,
            lane: new.lane,
            position: Position::beginning(closed),
            owner: None,
            epoch: 0,
            serial: 0,
            runs: 0,
            held: false,
            due_at: admitted.then_some(due),
            step_gone_at: None,
            awaits: None,
            cancel: None,
            skip: None,
            digest: new.digest,
            created_at: now,
            updated_at: now,
            input: new.input,
            data: new.data,
            journal: Vec::new(),
        };
        row.record(EntryEvent::Accepted, now, None);
        world.operations.insert(new.id, row);
        if admitted { Acceptance::Started } else { Acceptance::Queued }
    }
}

/// Notices that a call was dropped before the database had answered.
struct AbandonedCall<'a>(&'a SimulatedStore);

impl Drop for AbandonedCall<'_> {
    fn drop(&mut self) {
        if self.0.planted.is(PlantedBug::TransactionLeftOpen) {
            self.0.left_open.store(true, Ordering::Relaxed);
        }
    }
}
