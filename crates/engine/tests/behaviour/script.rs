//! A plan of two stages whose steps do what the test wrote down for them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Clock, Failure};
use engine::{
    Cx, Engine, HeartPlace, Operation, OperationId, Order, Plan, PlantedBug, Retry, RowChange,
    Settings, State, Step, StepError, StepResult, Storage as _, again, done, finish,
    storage::{Entry, Outcome, Snapshot, Verdict},
    testing::{Faults, SimulatedStore},
    waiting,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The scripted result of a run.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Wait(&'static str),
    WaitFor(Duration),
    Signal(&'static str),
    SlowSignal(&'static str, Duration),
    Fail,
    Busy(Duration),
    Again,
    Finish,
    Fatal,
    Panic,
    Hang,
    /// Leaves a mark every so often, and never ends.
    Tick(Duration),
    Work(Duration),
    Save(u32),
    Change(&'static str),
    Note(&'static str),
    NoteAndWait(&'static str, &'static str),
}

/// A change to another row.
#[derive(Serialize)]
struct ChangeBody {
    #[serde(skip)]
    topic: &'static str,
    by: &'static str,
}

impl RowChange for ChangeBody {
    fn topic(&self) -> &str {
        self.topic
    }
}

/// What the steps share: what is left to do, and what was done.
pub(crate) struct Env {
    pub(crate) clock: Clock,
    pub(crate) acts: Mutex<HashMap<(OperationId, &'static str), VecDeque<Act>>>,
    pub(crate) ran: Mutex<Vec<(Timestamp, OperationId, &'static str)>>,
}

impl Env {
    /// What an operation's step does, run by run; afterwards it is done at once.
    pub(crate) fn script(&self, id: OperationId, step: &'static str, acts: &[Act]) {
        self.acts.lock().unwrap().insert((id, step), acts.iter().cloned().collect());
    }

    /// The steps that ran for an operation, in order.
    pub(crate) fn ran(&self, id: OperationId) -> Vec<&'static str> {
        let ran = self.ran.lock().unwrap();
        ran.iter().filter(|(_, of, _)| *of == id).map(|(_, _, step)| *step).collect()
    }

    pub(crate) fn times(&self, id: OperationId, step: &str) -> Vec<Timestamp> {
        let ran = self.ran.lock().unwrap();
        let mine = ran.iter().filter(|(_, of, name)| *of == id && *name == step);
        mine.map(|(at, ..)| *at).collect()
    }
}

pub(crate) struct ScriptedOperation;

impl Operation for ScriptedOperation {
    const KIND: &'static str = "scripted";
    type Input = ();
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Data {
    pub(crate) saved: u32,
}

#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) warm: bool,
}

async fn act(cx: &mut Cx<'_, ScriptedOperation>, step: &'static str) -> StepResult {
    let now = cx.env.clock.now();
    cx.env.ran.lock().unwrap().push((now, cx.operation, step));
    if step == "Warm" {
        cx.memory.warm = true;
    }
    let next =
        cx.env.acts.lock().unwrap().get_mut(&(cx.operation, step)).and_then(VecDeque::pop_front);
    let boom = || Failure::new("outside", "http", "502");
    match next {
        None => done(),
        Some(Act::Wait(reason)) => waiting(reason).into(),
        Some(Act::WaitFor(time)) => waiting("a while").at_latest(time).into(),
        Some(Act::Signal(signal)) => {
            waiting("a signal").at_latest(Duration::from_secs(600)).or_signal(signal).into()
        }
        Some(Act::SlowSignal(signal, time)) => {
            cx.env.clock.sleep(time).await;
            waiting("a signal").at_latest(Duration::from_secs(600)).or_signal(signal).into()
        }
        Some(Act::Fail) => Err(StepError::transient(boom())),
        Some(Act::Busy(after)) => Err(StepError::transient_after(boom(), after)),
        Some(Act::Again) => again(Duration::from_secs(5), "from the top"),
        Some(Act::Finish) => finish("nothing to do"),
        Some(Act::Fatal) => Err(StepError::fatal(boom())),
        Some(Act::Panic) => panic!("poison"),
        Some(Act::Hang) => std::future::pending().await,
        Some(Act::Tick(pause)) => loop {
            cx.env.clock.sleep(pause).await;
            cx.env.ran.lock().unwrap().push((cx.env.clock.now(), cx.operation, "tick"));
        },
        Some(Act::Work(time)) => {
            cx.env.clock.sleep(time).await;
            done()
        }
        Some(Act::Save(number)) => {
            cx.data.saved = number;
            cx.save().await?;
            std::future::pending().await
        }
        Some(Act::Change(topic)) => {
            cx.change(&ChangeBody { topic, by: step })?;
            done()
        }
        Some(Act::Note(text)) => {
            cx.note(text);
            cx.note("and more");
            done()
        }
        Some(Act::NoteAndWait(text, reason)) => {
            cx.note(text);
            waiting(reason).into()
        }
    }
}

macro_rules! steps {
    ($($step:ident),*) => {$(
        pub(crate) struct $step;
        impl Step<ScriptedOperation> for $step {
            const NAME: &'static str = stringify!($step);
            const RETRY: Retry = Retry::DEFAULT.each_within(Duration::from_secs(30));
            async fn run(&self, cx: &mut Cx<'_, ScriptedOperation>) -> StepResult {
                act(cx, Self::NAME).await
            }
        }
    )*};
}

pub(crate) mod step {
    use super::{Cx, Duration, Retry, ScriptedOperation, Step, StepResult, act};
    steps!(Start, Warm, Use, End);
}

use step::{End, Start, Use, Warm};

/// A stage that only starts, one with memory, one that ends.
pub(crate) fn plan() -> Plan<ScriptedOperation> {
    Plan::within(Duration::from_secs(24 * 3600))
        .stage("start")
        .step(Start)
        .stage("middle")
        .step(Warm)
        .step(Use)
        .stage("end")
        .step(End)
}

/// A store, a clock and what the steps share.
pub(crate) struct Bench {
    pub(crate) clock: Clock,
    pub(crate) store: SimulatedStore,
    pub(crate) env: Arc<Env>,
    next: Mutex<u128>,
}

pub(crate) fn settings() -> Settings {
    Settings {
        lease: Duration::from_secs(10),
        seed: Some(1),
        heart: HeartPlace::Task,
        ..Settings::default()
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(PlantedBug::Nothing, Faults::default())
    }

    pub(crate) fn with(planted: PlantedBug, faults: Faults) -> Self {
        let clock = Clock::starting_at("2026-01-01T12:00:00Z".parse().unwrap());
        let env = Env { clock: clock.clone(), acts: Mutex::default(), ran: Mutex::default() };
        Self {
            store: SimulatedStore::new(clock.clone(), 1, faults, planted),
            clock,
            env: Arc::new(env),
            next: Mutex::new(1),
        }
    }

    pub(crate) fn start(&self, settings: Settings) -> Engine<SimulatedStore> {
        self.start_plan(settings, plan())
    }

    pub(crate) fn start_plan(
        &self,
        settings: Settings,
        plan: Plan<ScriptedOperation>,
    ) -> Engine<SimulatedStore> {
        self.start_plan_on(&self.store.line(self.clock.clone()), settings, plan)
    }

    /// Starts a replica whose line to the store the test keeps.
    pub(crate) fn start_on(
        &self,
        line: &SimulatedStore,
        settings: Settings,
    ) -> Engine<SimulatedStore> {
        self.start_plan_on(line, settings, plan())
    }

    fn start_plan_on(
        &self,
        line: &SimulatedStore,
        settings: Settings,
        plan: Plan<ScriptedOperation>,
    ) -> Engine<SimulatedStore> {
        Engine::builder(Arc::new(line.clone()), self.clock.clone(), settings)
            .serve(plan, self.env.clone())
            .unwrap()
            .start()
    }

    pub(crate) fn id(&self) -> OperationId {
        let mut next = self.next.lock().unwrap();
        *next += 1;
        Uuid::from_u128(*next)
    }

    /// Orders an operation whose step does these things first.
    pub(crate) async fn order(&self, step: &'static str, acts: &[Act]) -> OperationId {
        let id = self.id();
        self.env.script(id, step, acts);
        self.order_for(id, &format!("instance of {id}"), "tenant").await;
        id
    }

    pub(crate) async fn order_for(&self, id: OperationId, instance: &str, lane: &str) {
        let order = Order::<ScriptedOperation> {
            id,
            instance: instance.into(),
            lane: lane.into(),
            input: (),
            data: Data::default(),
            digest: None,
        };
        self.store.accept(order.encoded().unwrap(), &|_| Verdict::Queue).await.unwrap();
    }

    pub(crate) async fn read(&self, id: OperationId) -> Snapshot {
        self.store.read(id).await.unwrap().unwrap()
    }

    /// Waits, in simulated time, until something is true of an operation.
    pub(crate) async fn until(
        &self,
        id: OperationId,
        holds: impl Fn(&Snapshot) -> bool,
    ) -> Snapshot {
        let mut waited = Duration::ZERO;
        for _ in 0..100_000 {
            let snapshot = self.read(id).await;
            if holds(&snapshot) {
                return snapshot;
            }
            let pause = (waited / 20).clamp(Duration::from_millis(20), MINUTE);
            self.clock.sleep(pause).await;
            waited += pause;
        }
        panic!("it never happens: {:#?}", self.store.history(id));
    }

    pub(crate) async fn end(&self, id: OperationId) -> Snapshot {
        self.until(id, |row| row.state.is_final()).await
    }

    pub(crate) async fn succeeds(&self, id: OperationId) {
        let row = self.end(id).await;
        assert_eq!(row.state, State::Succeeded, "{:#?}", self.store.history(id));
    }

    /// The runs of an operation, as step and outcome.
    pub(crate) fn runs(&self, id: OperationId) -> Vec<(String, Outcome)> {
        let runs = |entry: Entry| Some((entry.step?, entry.outcome?));
        self.store.history(id).into_iter().filter_map(runs).collect()
    }
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
