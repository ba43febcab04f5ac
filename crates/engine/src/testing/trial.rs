//! One operation from its acceptance to its end, on a held clock, with crashes where a test wants them.
//!
//! A crash is cheap: the incarnation is dropped, the store opened again, and a new incarnation takes
//! over. Nothing waits: when nothing is due, the clock jumps to the next due time.

use std::{future::Future, path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use base::Clock;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    drive::DriveResult,
    engine::{Builder, Order},
    hooks::Hooks,
    lease::Lease,
    operation::Operation,
    plan::Plan,
    position::State,
    settings::Settings,
    storage::{ClaimRequest, Entry, Snapshot, Storage, Verdict},
};

/// A century: on a held clock no lease runs out by itself.
const LEASE: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Opens the same database again and again.
pub trait Stores: Send + Sync {
    /// The type of the store.
    type Store: Storage;

    /// An empty database on this clock.
    fn create(&self, clock: &Clock) -> impl Future<Output = Self> + Send
    where
        Self: Sized;

    /// Opens it, as a starting process would.
    fn open(&self) -> impl Future<Output = Arc<Self::Store>> + Send;
}

/// The setting of a trial.
pub struct Setting<O: Operation> {
    /// The plan.
    pub plan: Plan<O>,
    /// The environment of its steps: clients of a fresh world.
    pub env: Arc<O::Env>,
    /// The instance.
    pub instance: String,
    /// The request.
    pub input: O::Input,
    /// The details that are known already.
    pub data: O::Data,
    /// Tells how the outside world looks, to compare it.
    pub world: World,
}

/// Tells how the outside world looks.
pub type World = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Value> + Send>> + Send + Sync>;

/// Makes a fresh world for each trial.
pub trait Scenario: Send + Sync {
    /// The operation that is tried.
    type Operation: Operation;

    /// A fresh world on this clock, and an order for it.
    fn fresh(&self, clock: &Clock) -> impl Future<Output = Setting<Self::Operation>> + Send;

    /// Serves plans of operations that the tried one starts. They are disturbed like it, and compared only by the outside world.
    fn serve_others<S: Storage>(&self, builder: Builder<S>) -> Builder<S> {
        builder
    }

    /// Takes out of the data what may differ between runs (times, counters of polls).
    fn comparable(&self, data: Value) -> Value {
        data
    }

    /// The file with the end of an undisturbed run. A plan whose every run goes wrong in the same way still ends the
    /// same way each time; the file shows it.
    fn stored(&self) -> Option<PathBuf> {
        None
    }

    /// Whether the operation may succeed although this step always fails after its work: because another one finds that
    /// work done, and has nothing left to do.
    fn survives(&self, step: &str) -> bool {
        let _ = step;
        false
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialEnd {
    /// The operation's final state.
    pub state: State,
    /// Its closed stages.
    pub closed: Vec<String>,
    /// Its steps executed but not completed.
    pub incomplete: Vec<String>,
    /// The data of its steps.
    pub data: Value,
    /// How the outside world looks.
    pub world: Value,
}

impl TrialEnd {
    /// All of it as one value.
    pub(super) fn as_value(&self) -> Value {
        json!({
            "state": self.state.to_string(),
            "closed": self.closed,
            "incomplete": self.incomplete,
            "data": self.data,
            "world": self.world,
        })
    }
}

/// A trial with its history.
pub struct TrialResult {
    /// How it ended.
    pub end: TrialEnd,
    /// The stored row.
    pub snapshot: Snapshot,
    /// The journal.
    pub journal: Vec<Entry>,
}

fn noon() -> Timestamp {
    Timestamp::from_second(1_767_268_800).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Takes one operation to its end.
pub async fn try_out<C, S>(scenario: &C, stores: &S, hooks: Option<Arc<dyn Hooks>>) -> TrialResult
where
    C: Scenario,
    S: Stores,
{
    let clock = Clock::held_at(noon());
    let setting = scenario.fresh(&clock).await;
    let stores = stores.create(&clock).await;
    let store = stores.open().await;
    let order = Order::<C::Operation> {
        id: Uuid::from_u128(0x6b63_7000_0000_4000_8000_0000_0000_0001),
        instance: setting.instance,
        lane: "tenant".into(),
        input: setting.input,
        data: setting.data,
        digest: None,
    };
    let id = order.id;
    let new = order.encoded().expect("an order can be written");
    store.accept(new, &|_| Verdict::Queue).await.expect("the order is accepted");
    drop(store);

    let mut plan = Some(setting.plan);
    let mut served = None;
    for _ in 0..1_000 {
        let store = stores.open().await;
        let settings = Settings {
            replica: Some("trial".into()),
            lease: LEASE,
            seed: Some(1),
            ..Settings::default()
        };
        let mut builder = Builder::new(store.clone(), clock.clone(), settings);
        if let Some(hooks) = &hooks {
            builder = builder.hooks(hooks.clone());
        }
        // The plan is built once; each incarnation serves the same one.
        let builder = match (plan.take(), served.clone()) {
            (Some(plan), _) => {
                let served = builder.serve(plan, setting.env.clone());
                scenario.serve_others(served.unwrap_or_else(|error| panic!("{error}")))
            }
            (None, Some(plans)) => builder.serve_again(plans),
            (None, None) => unreachable!("the plan is served or to be served"),
        };
        served = Some(builder.served());
        if let Some(snapshot) = live(builder, &store, &clock, id).await {
            let journal = store.journal(id).await.expect("the journal can be read");
            let data = serde_json::from_slice(&snapshot.data).unwrap_or_default();
            let end = TrialEnd {
                state: snapshot.state,
                closed: snapshot.closed.clone(),
                incomplete: snapshot.incomplete.clone(),
                data: scenario.comparable(data),
                world: (setting.world)().await,
            };
            return TrialResult { end, snapshot, journal };
        }
    }
    panic!("the operation did not end in a thousand incarnations")
}

/// One incarnation: works until the operation is final, or the process dies.
async fn live<S: Storage>(
    builder: Builder<S>,
    store: &Arc<S>,
    clock: &Clock,
    id: Uuid,
) -> Option<Snapshot> {
    let replica = builder.replica();
    let joined = store.join("trial", LEASE).await.expect("a replica can join");
    let lease = Lease::granted(joined.replica, clock.clone(), LEASE, clock.monotonic());
    let incarnation = Arc::new(replica.incarnate(lease));
    store.reap().await.expect("dead replicas can be looked for");
    let kinds: Vec<(String, i32)> =
        replica.plans.iter().map(|(kind, plan)| (kind.clone(), plan.version())).collect();
    for _ in 0..100_000 {
        let ask = ClaimRequest {
            replica: joined.replica,
            kinds: &kinds,
            room: 1,
            crowded: &[],
            after_lane: "",
        };
        let claimed = store.claim(&ask).await.expect("a live replica can claim");
        for held in claimed.operations {
            let watched = incarnation.watch.watch(held.id, held.epoch);
            let drove = incarnation.clone().drive(held, watched).await;
            if incarnation.crashed.is_cancelled() {
                return None;
            }
            assert_ne!(drove, DriveResult::Left, "the only replica lost the operation");
        }
        let snapshot =
            store.read(id).await.expect("the row can be read").expect("the row is there");
        if snapshot.state.is_final() {
            return Some(snapshot);
        }
        if let Some(due) = snapshot.due_at.filter(|_| !snapshot.held) {
            clock.advance_to(due);
        }
    }
    panic!("the operation does not end")
}
