//! Operators' questions about many operations, on both databases, with operations that an engine has worked on.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Clock, Failure};
use engine::{
    Cx, Engine, Operation, OperationId, Order, Plan, Retry, Settings, State, Step, StepError,
    StepResult, Storage as _, done,
    explain::Standstill,
    storage::{Snapshot, Verdict},
    waiting,
};
use store::{
    EngineStore,
    operations::{ExceededLimit, Operations, StepOrder, StuckOperation},
    testing::{PreparedDatabase, Sort},
};

const LIMIT: Duration = Duration::from_hours(6);
const MINUTE: u64 = 60;

/// Instances whose parts have arrived.
type ArrivedParts = Arc<Mutex<HashSet<String>>>;

/// Builds something once its parts have arrived.
struct Building;

impl Operation for Building {
    const KIND: &'static str = "building";
    type Input = serde_json::Value;
    type Data = bool;
    type Memory = ();
    type Env = ArrivedParts;
}

/// The same; none of these ever ends.
struct Resting;

impl Operation for Resting {
    const KIND: &'static str = "resting";
    type Input = serde_json::Value;
    type Data = bool;
    type Memory = ();
    type Env = ArrivedParts;
}

/// Fails once.
struct OrderParts;

impl Step<Building> for OrderParts {
    const NAME: &'static str = "Order_Parts";

    async fn run(&self, cx: &mut Cx<'_, Building>) -> StepResult {
        if std::mem::replace(cx.data, true) || !cx.instance.starts_with("flaky") {
            return done();
        }
        cx.save().await?;
        Err(StepError::transient(Failure::new("parts", "unavailable", "the shop is closed")))
    }
}

struct WaitForParts;

impl<O> Step<O> for WaitForParts
where
    O: Operation<Env = ArrivedParts>,
{
    const NAME: &'static str = "Wait_For_Parts";
    const RETRY: Retry = Retry::every(Duration::from_secs(5)).waiting_for(LIMIT);

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        if cx.env.lock().unwrap().contains(cx.instance) {
            return done();
        }
        waiting("the parts are on their way").into()
    }
}

struct World {
    operations: Operations,
    arrived: ArrivedParts,
    clock: Clock,
    _database: PreparedDatabase<()>,
}

impl World {
    async fn new(sort: Sort) -> Self {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let database = PreparedDatabase::<()>::held(sort, &clock).await;
        let ((), store) = database.open().await;
        let arrived = ArrivedParts::default();
        let settings = Settings { lease: Duration::from_hours(1_000), ..Settings::default() };
        let building = Plan::<Building>::within(2 * LIMIT).each(OrderParts).each(WaitForParts);
        let resting = Plan::<Resting>::within(2 * LIMIT).each(WaitForParts);
        let engine: Engine<EngineStore> = Engine::builder(Arc::new(store), clock.clone(), settings)
            .serve(building, Arc::new(arrived.clone()))
            .unwrap()
            .serve(resting, Arc::new(arrived.clone()))
            .unwrap()
            .start();
        Self { operations: Operations::new(engine), arrived, clock, _database: database }
    }

    async fn begin<O>(&self, instance: &str) -> OperationId
    where
        O: Operation<Input = serde_json::Value, Data = bool, Env = ArrivedParts>,
    {
        let id = uuid::Uuid::now_v7();
        let order = Order::<O> {
            id,
            instance: instance.into(),
            lane: String::new(),
            input: serde_json::json!({ "plan": "aws" }),
            data: false,
            digest: None,
        };
        self.operations.engine().accept(order, &|_| Verdict::Queue).await.unwrap();
        id
    }

    async fn until(&self, id: OperationId, is: impl Fn(&Snapshot) -> bool) -> Snapshot {
        for _ in 0..6_000 {
            let found = self.operations.engine().storage().read(id).await.unwrap().unwrap();
            if is(&found) {
                return found;
            }
            Clock::running().sleep(Duration::from_millis(5)).await;
        }
        panic!("{:?}", self.operations.engine().explain(id).await);
    }

    /// An operation waits for its parts, and for its next try.
    async fn waits(&self, id: OperationId) {
        let now = self.clock.now();
        self.until(id, |it| {
            it.waiting_since.is_some() && !it.held && it.due_at.is_some_and(|due| due > now)
        })
        .await;
    }

    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// An operation that takes so long for its parts.
    async fn built(&self, instance: &str, seconds: u64) {
        let id = self.begin::<Building>(instance).await;
        if instance.starts_with("flaky") {
            self.until(id, |it| it.failing_since.is_some() && !it.held).await;
            self.pass(2);
        }
        self.waits(id).await;
        self.pass(seconds);
        self.arrived.lock().unwrap().insert(instance.to_owned());
        self.until(id, |it| {
            it.state == State::Succeeded || {
                // Its next try may have been a moment before the parts came.
                self.pass(u64::from(it.due_at.is_some_and(|due| due > self.clock.now())));
                false
            }
        })
        .await;
    }

    async fn count(&self) {
        let plan = |input: &[u8]| -> Option<String> {
            let input: serde_json::Value = serde_json::from_slice(input).ok()?;
            Some(input["plan"].as_str()?.to_owned())
        };
        while self.operations.count_ended(plan).await.unwrap() {}
    }

    async fn stuck(&self) -> Vec<StuckOperation> {
        let present = self.operations.present(&[]).await.unwrap();
        assert!(present.complete);
        assert_eq!(present.stuck.len(), present.stuck_operations);
        present.stuck
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.operations.engine().kill();
    }
}

async fn a_stuck_operation_is_found(sort: Sort) {
    let world = World::new(sort).await;
    for instance in ["a", "b", "c", "d"] {
        world.built(instance, MINUTE).await;
    }
    world.count().await;
    let slow = world.begin::<Building>("slow").await;
    let resting = world.begin::<Resting>("resting").await;
    let since = world.clock.now();
    for id in [slow, resting] {
        world.waits(id).await;
    }

    assert_eq!(world.stuck().await, []);
    world.pass(4 * MINUTE);
    world.waits(slow).await;
    assert_eq!(world.stuck().await, [], "less than five minutes is never stuck");
    world.pass(2 * MINUTE);
    for id in [slow, resting] {
        world.waits(id).await;
    }
    let stuck = world.stuck().await;

    // The one that rests waits for its next try within its limit.
    assert_eq!(stuck.iter().map(|it| it.operation).collect::<Vec<_>>(), [slow]);
    let found = &stuck[0];
    assert_eq!(
        (found.step.as_deref(), found.standing),
        (Some("Wait_For_Parts"), Standstill::Waiting)
    );
    assert_eq!((found.beyond, found.since), (ExceededLimit::UsualOfStep, since));
    assert_eq!(
        (found.present_seconds, found.reason.as_str()),
        (6 * MINUTE, "the parts are on their way")
    );
    assert!((50..75).contains(&found.usual_seconds.unwrap()), "{found:?}");
    assert_eq!(found.limit_at, Some(since + LIMIT));
    assert!(world.operations.present(&["building"]).await.unwrap().stuck.is_empty());

    // Without a replica nothing goes on.
    world.operations.engine().kill();
    world.pass(6 * MINUTE);
    let stuck = world.stuck().await;
    assert_eq!(stuck.len(), 2);
    assert!(stuck.iter().all(|it| it.beyond == ExceededLimit::Due), "{stuck:?}");
}

async fn steps_and_days_are_summed_once(sort: Sort) {
    let world = World::new(sort).await;
    for instance in ["flaky-1", "b", "c"] {
        world.built(instance, 10 * MINUTE).await;
    }
    let canceled = world.begin::<Resting>("resting").await;
    world.waits(canceled).await;
    world.operations.cancel(canceled, "enough".into()).await.unwrap();
    world.until(canceled, |it| it.state == State::Canceled).await;

    world.count().await;
    world.count().await;

    let steps = world.operations.steps(24, None, StepOrder::Slowest, 10).await.unwrap();
    let named = |step: &str| {
        let of = |it: &&store::operations::StepReport| {
            it.kind == "building" && it.step.as_deref() == Some(step)
        };
        steps.iter().find(of).unwrap()
    };
    let waits = named("Wait_For_Parts");
    assert_eq!((waits.operations, waits.failures), (3, 0));
    assert!(waits.runs > 3, "{waits:?}");
    assert!((520.0..690.0).contains(&waits.median_seconds.unwrap()), "{waits:?}");
    let orders = named("Order_Parts");
    assert_eq!((orders.operations, orders.runs, orders.failures, orders.retries), (3, 4, 1, 1));
    let failing =
        world.operations.steps(24, Some("building"), StepOrder::Failing, 1).await.unwrap();
    assert_eq!(failing[0].step.as_deref(), Some("Order_Parts"));
    let success = world.operations.success(7).await.unwrap();
    let ended: Vec<_> = success
        .iter()
        .map(|it| (it.kind.as_str(), it.plan.as_str(), it.succeeded, it.failed, it.canceled))
        .collect();
    assert_eq!(ended, [("building", "aws", 3, 0, 0), ("resting", "aws", 0, 0, 1)]);
    assert_eq!(success[0].day.to_string(), "2026-01-01");

    world.pass(200 * 24 * 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!(world.operations.success(90).await.unwrap(), []);
    assert_eq!(world.operations.steps(168, None, StepOrder::Slowest, 10).await.unwrap(), []);
}

async fn sums_are_told_for_the_time_that_is_asked_for(sort: Sort) {
    let world = World::new(sort).await;
    world.built("first", MINUTE).await;
    world.pass(24 * 60 * MINUTE);
    world.built("second", MINUTE).await;
    world.count().await;
    let days = async |days| world.operations.success(days).await.unwrap().len();
    let operations = async |hours, kind| {
        let found = world.operations.steps(hours, kind, StepOrder::Slowest, 10).await.unwrap();
        let orders = found.iter().find(|it| it.step.as_deref() == Some("Order_Parts"));
        orders.map_or(0, |it| it.operations)
    };

    assert_eq!([days(1).await, days(2).await], [1, 2], "today, and yesterday");
    assert_eq!([operations(1, None).await, operations(30, None).await], [1, 2]);
    assert_eq!(operations(30, Some("building")).await, 2);
    assert_eq!(operations(30, Some("resting")).await, 0);

    // Whatever can be asked for is kept.
    world.pass(6 * 24 * 60 * MINUTE - 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!(operations(168, None).await, 2, "of seven days");
    world.pass(82 * 24 * 60 * MINUTE);
    world.operations.forget_sums().await.unwrap();
    assert_eq!((days(90).await, operations(168, None).await), (2, 0), "of ninety days");
    assert_eq!(days(200).await, days(90).await, "nobody asks for more");
}

async fn what_works_what_failed_and_who_lives_is_told(sort: Sort) {
    let world = World::new(sort).await;
    let first = world.begin::<Building>("a").await;
    world.waits(first).await;
    let second = world.begin::<Building>("a").await;
    let third = world.begin::<Building>("b").await;
    world.waits(third).await;

    let present = world.operations.present(&[]).await.unwrap();

    assert_eq!((present.standing.waiting, present.standing.queued), (2, 1));
    assert_eq!((present.waits[0].operations, present.waits[0].standing), (2, Standstill::Waiting));
    assert_eq!(present.waits[0].reason, "the parts are on their way");
    let replicas = world.operations.replicas().await.unwrap();
    assert_eq!(replicas.len(), 1);
    world.operations.abandon(first, "it hangs".into()).await.unwrap();
    let failed = world.operations.failed_lately().await.unwrap();
    assert_eq!(failed.iter().map(|it| it.operation).collect::<Vec<_>>(), [first]);
    assert!(failed[0].reason.contains("it hangs"), "{failed:?}");
    world.until(second, |it| it.due_at.is_some()).await;
    world.pass(25 * 60 * MINUTE);
    // The others may fail meanwhile: their time is over as well.
    let failed = world.operations.failed_lately().await.unwrap();
    assert!(failed.iter().all(|it| it.operation != first), "{failed:?}");
}

macro_rules! on_both {
    ($($promise:ident),+ $(,)?) => {
        mod sqlite {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise(super::Sort::Sqlite).await;
            }
        )+}
        mod postgres {$(
            #[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                super::$promise(super::Sort::Postgres).await;
            }
        )+}
    };
}

on_both!(
    a_stuck_operation_is_found,
    steps_and_days_are_summed_once,
    sums_are_told_for_the_time_that_is_asked_for,
    what_works_what_failed_and_who_lives_is_told,
);
