//! Starts replicas, sends orders, breaks things, and waits for everything to end.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Clock, Failure};
use engine::{
    Engine, HeartPlace, OperationId, Order, PlantedBug, Settings, Storage as _,
    storage::{Acceptance, Cancel, NewOperation, Skip, Unfinished, Verdict},
    testing::{Faults, SimulatedStore},
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    checker::{self, NEWER, Violation},
    outside::{OutsideConnection, World},
    plans::{self, Build, Data, Panic, Remove, Slow},
};

pub(crate) const LEASE: Duration = Duration::from_secs(1);
/// How long faults go on, in simulated time.
const TROUBLE: Duration = Duration::from_secs(30);
/// How long nothing may happen afterwards while something is unfinished.
const PATIENCE: Duration = Duration::from_secs(30);

/// The result of a run.
pub(crate) struct SimulationResult {
    pub violations: Vec<Violation>,
    /// Everything that happened, to compare replays.
    pub story: String,
}

struct Replica {
    engine: Engine<SimulatedStore>,
    line: SimulatedStore,
    paused: watch::Sender<bool>,
    name: String,
}

struct Nemesis {
    random: fastrand::Rng,
    clock: Clock,
    noon: Timestamp,
    store: SimulatedStore,
    world: Arc<Mutex<World>>,
    planted: PlantedBug,
    replicas: Vec<Replica>,
    accepted: BTreeMap<OperationId, &'static str>,
    names: u32,
    /// Whether operators skip steps and abandon operations. Without them, the same things happen as before there were any.
    operators: bool,
}

pub(crate) async fn run(seed: u64, planted: PlantedBug, operators: bool) -> SimulationResult {
    let mut random = fastrand::Rng::with_seed(seed);
    let noon: Timestamp = "2026-01-01T12:00:00Z".parse().expect("a time");
    let clock = Clock::starting_at(noon);
    let faults = Faults {
        unavailable: 0.02,
        answer_lost: 0.05,
        vanished: 0.03,
        late: 0,
        wake_lost: 0.2,
        slowest: Duration::from_millis(8),
    };
    let store = SimulatedStore::new(clock.clone(), random.u64(..), faults, planted);
    let mut nemesis = Nemesis {
        random,
        clock,
        noon,
        store,
        world: Arc::default(),
        planted,
        replicas: Vec::new(),
        accepted: BTreeMap::new(),
        names: 0,
        operators,
    };
    for _ in 0..3 {
        nemesis.start(None);
    }
    nemesis.order_newer_version().await;
    while nemesis.clock.now() < noon + TROUBLE {
        nemesis.act().await;
        let pause = nemesis.random.u64(50..1_500);
        nemesis.clock.sleep(Duration::from_millis(pause)).await;
    }
    nemesis.calm();
    nemesis.wait_for_the_end().await;
    nemesis.finish()
}

impl Nemesis {
    fn start(&mut self, name: Option<String>) {
        let name = name.unwrap_or_else(|| {
            self.names += 1;
            format!("replica {}", self.names)
        });
        // Each replica believes in a clock of its own, up to an hour off.
        let skew = SignedDuration::from_secs(self.random.i64(-3_600..=3_600));
        let local = Clock::starting_at(self.clock.now() + skew);
        // The planted bug must not profit from the corrections that the engine's clock gets.
        let line = self.store.line(Clock::starting_at(self.clock.now() + skew));
        let paused = watch::channel(false).0;
        let outside = Arc::new(OutsideConnection {
            world: self.world.clone(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            random: Arc::new(Mutex::new(fastrand::Rng::with_seed(self.random.u64(..)))),
            paused: paused.clone(),
            lose: 0.05,
        });
        let settings = Settings {
            replica: Some(name.clone()),
            lease: LEASE,
            // With slow steps, a place for each instance: nothing waits longer than its limit allows for one.
            workers: if self.operators { 6 } else { 4 },
            in_hand: 8,
            scan: Duration::from_millis(500),
            memories: 3,
            patience: Duration::from_secs(5),
            seed: Some(self.random.u64(..)),
            heart: HeartPlace::Task,
            planted: self.planted,
            ..Settings::default()
        };
        let engine = Engine::builder(Arc::new(line.clone()), local, settings)
            .serve(plans::build(), outside.clone())
            .and_then(|builder| builder.serve(plans::remove(), outside.clone()))
            .and_then(|builder| builder.serve(plans::panic(), outside.clone()))
            .and_then(|builder| builder.serve(plans::slow(), outside))
            .expect("the plans work")
            .start();
        self.tell(&format!("{name} starts"));
        self.replicas.push(Replica { engine, line, paused, name });
    }

    fn tell(&self, text: &str) {
        let _ = writeln!(self.world.lock().unwrap().story, "{} {text}", self.clock.now());
    }

    fn any(&mut self) -> usize {
        self.random.usize(0..self.replicas.len())
    }

    /// An operator skips the step that a removal stands at, or abandons an operation.
    async fn step_in(&mut self) {
        let rows: Vec<_> = self
            .store
            .all()
            .into_iter()
            .filter(|row| row.id != NEWER && !row.state.is_final())
            .collect();
        if rows.is_empty() {
            return;
        }
        let row = rows[self.random.usize(0..rows.len())].clone();
        let place = row.stage.zip(row.step).filter(|_| row.kind == "remove");
        let done = match place {
            Some((stage, step)) if self.random.bool() => {
                let skip = Skip { stage, step, reason: "an operator said so".into() };
                self.store.request_skip(row.id, &skip).await
            }
            _ => {
                let failure = Failure::new("engine", "abandoned", "an operator said so");
                self.store.abandon(row.id, &failure).await
            }
        };
        self.tell(&format!("an operator steps in at {}: {done:?}", row.id));
    }

    /// For a while, a replica's looks for what was abandoned have no answer, and everything else has.
    fn blind(&mut self) {
        let at = self.any();
        let for_ms = self.random.u64(200..4_000);
        let replica = &self.replicas[at];
        self.tell(&format!("{} is blind for {for_ms} ms", replica.name));
        let (line, clock) = (replica.line.clone(), self.clock.clone());
        line.blind(true);
        tokio::spawn(async move {
            clock.sleep(Duration::from_millis(for_ms)).await;
            line.blind(false);
        });
    }

    async fn act(&mut self) {
        if self.operators && self.random.u32(0..6) == 0 {
            return self.step_in().await;
        }
        if self.operators && self.random.u32(0..12) == 0 {
            return self.blind();
        }
        match self.random.u32(0..100) {
            0..45 => self.order().await,
            45..60 => {
                let at = self.any();
                let dead = self.replicas.swap_remove(at);
                self.tell(&format!("{} is killed", dead.name));
                dead.engine.kill();
                // Under its old name it may take over at once, under a new one it must wait.
                let name = self.random.bool().then(|| dead.name.clone());
                self.start(name);
            }
            60..75 => {
                let at = self.any();
                let for_ms = self.random.u64(200..3_000);
                let replica = &self.replicas[at];
                self.tell(&format!("{} is paused for {for_ms} ms", replica.name));
                let (line, paused, clock) =
                    (replica.line.clone(), replica.paused.clone(), self.clock.clone());
                line.pause(true);
                paused.send_replace(true);
                tokio::spawn(async move {
                    clock.sleep(Duration::from_millis(for_ms)).await;
                    line.pause(false);
                    paused.send_replace(false);
                });
            }
            75..82 => {
                let at = self.any();
                let stopped = self.replicas.swap_remove(at);
                self.tell(&format!("{} stops in order", stopped.name));
                let engine = stopped.engine;
                tokio::spawn(async move { engine.stop(Duration::from_millis(300)).await });
                self.start(None);
            }
            82..90 => self.cancel().await,
            _ => {
                let ids: Vec<_> = self.accepted.keys().copied().collect();
                if !ids.is_empty() {
                    let id = ids[self.random.usize(0..ids.len())];
                    let _ = self.store.signal(&format!("thing/{id}")).await;
                }
            }
        }
    }

    async fn cancel(&mut self) {
        let ids: Vec<_> = self.accepted.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        let id = ids[self.random.usize(0..ids.len())];
        let cancel = Cancel { state: engine::State::Canceled, reason: "called off".into() };
        let asked = self.store.request_cancel(id, &cancel).await;
        self.tell(&format!("cancel {id}: {asked:?}"));
    }

    /// Sends an order, now and then twice.
    async fn order(&mut self) {
        let id = Uuid::from_u128(self.random.u128(..));
        let instance = format!("instance {}", self.random.u32(0..6));
        let number = self.random.u32(0..1_000);
        let twice = self.random.bool();
        let kind = self.random.u32(0..10);
        let flaky = self.random.u32(0..4);
        self.world.lock().unwrap().flaky.insert(format!("{id}/Flaky"), flaky);
        for _ in 0..=u32::from(twice) {
            let new = match kind {
                0 => encoded::<Panic>(id, &instance, number),
                1..=2 => encoded::<Remove>(id, &instance, number),
                3 if self.operators => encoded::<Slow>(id, &instance, number),
                _ => encoded::<Build>(id, &instance, number),
            };
            let kind = match kind {
                0 => "panic",
                1..=2 => "remove",
                3 if self.operators => "slow",
                _ => "build",
            };
            let digest = new.digest.clone();
            let pairs = move |unfinished: &[Unfinished]| {
                let same = unfinished.iter().find(|other| other.digest == digest);
                same.map_or(Verdict::Queue, |other| Verdict::Same(other.id))
            };
            // A second try of a stored order must find it, whatever became of the first answer.
            if self.accepted.contains_key(&id)
                && self.store.all().iter().any(|row| row.id == id && row.state.is_final())
            {
                continue;
            }
            match self.store.accept(new, &pairs).await {
                Ok(Acceptance::Started | Acceptance::Queued) => {
                    if self.accepted.insert(id, kind).is_some() {
                        self.violate(3, format!("order {id} was stored twice"));
                    }
                    self.tell(&format!("{kind} {id} for {instance}"));
                }
                Ok(Acceptance::Same(other)) if other == id => {}
                Ok(other) => self.violate(3, format!("order {id} became {other:?}")),
                Err(error) => self.tell(&format!("order {id} failed: {error}")),
            }
        }
    }

    /// Written by a newer program: nobody here may touch it.
    async fn order_newer_version(&mut self) {
        let mut new = encoded::<Build>(NEWER, "instance of a newer version", 1);
        new.data_version = 99;
        for _ in 0..20 {
            if self.store.accept(new.clone(), &|_| Verdict::Queue).await.is_ok() {
                return;
            }
        }
    }

    fn violate(&self, promise: u8, text: String) {
        self.world.lock().unwrap().violations.push(Violation { promise, text });
    }

    fn calm(&mut self) {
        self.tell("calm");
        // Notifications stay unreliable: they only shorten waiting.
        self.store.misbehave(Faults {
            wake_lost: 0.5,
            slowest: Duration::from_millis(2),
            ..Faults::default()
        });
    }

    /// Everything ends, and something happens every so often until it does.
    async fn wait_for_the_end(&mut self) {
        let mut moved = (0, self.clock.now());
        loop {
            let left = self.unfinished();
            if left.is_empty() {
                return;
            }
            let runs: i64 = self.store.all().iter().map(|row| row.runs + row.epoch).sum();
            let now = self.clock.now();
            if runs != moved.0 {
                moved = (runs, now);
            }
            if now > moved.1 + PATIENCE || now > self.noon + 20 * TROUBLE {
                for row in left {
                    self.violate(1, format!("it never ended: {row:?}"));
                }
                return;
            }
            self.clock.sleep(Duration::from_millis(500)).await;
        }
    }

    fn unfinished(&self) -> Vec<engine::storage::Snapshot> {
        let rows = self.store.all().into_iter();
        rows.filter(|row| !row.state.is_final() && row.id != NEWER).collect()
    }

    fn finish(mut self) -> SimulationResult {
        for replica in self.replicas.drain(..) {
            replica.engine.kill();
        }
        let mut story = std::mem::take(&mut self.world.lock().unwrap().story);
        for row in self.store.all() {
            let _ = writeln!(story, "{} {} {:?}", row.id, row.state, row.note);
            for entry in self.store.history(row.id) {
                let _ = writeln!(
                    story,
                    "  {} {:?} {:?} {:?} x{} epoch {}",
                    entry.began_at,
                    entry.event,
                    entry.step,
                    entry.outcome,
                    entry.times,
                    entry.epoch
                );
            }
        }
        let mut violations = std::mem::take(&mut self.world.lock().unwrap().violations);
        violations.extend(checker::check(&self.store, &self.world.lock().unwrap(), &self.accepted));
        SimulationResult { violations, story }
    }
}

fn encoded<O>(id: OperationId, instance: &str, number: u32) -> NewOperation
where
    O: engine::Operation<Input = u32, Data = Data>,
{
    Order::<O> {
        id,
        instance: instance.to_owned(),
        lane: format!("tenant {}", number % 3),
        input: number,
        data: Data::default(),
        digest: Some(id.as_bytes().to_vec()),
    }
    .encoded()
    .expect("orders can be written")
}
