//! Operators' questions about many operations, on both databases, with operations that an engine has worked on.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "answers/plans.rs"]
mod plans;
#[path = "answers/standing.rs"]
mod standing;
#[path = "answers/sums.rs"]
mod sums;

use std::{sync::Arc, time::Duration};

use base::Clock;
use engine::{
    Engine, Operation, OperationId, Order, Plan, Settings, State, Storage as _,
    storage::{Snapshot, Verdict},
};
use store::{
    EngineStore,
    operations::{Operations, StuckOperation},
    testing::{PreparedDatabase, Sort},
};

use self::{
    plans::{ArrivedParts, Building, OrderParts, Resting, WaitForParts},
    standing::{a_stuck_operation_is_found, what_works_what_failed_and_who_lives_is_told},
    sums::{steps_and_days_are_summed_once, sums_are_told_for_the_time_that_is_asked_for},
};

const LIMIT: Duration = Duration::from_hours(6);
const MINUTE: u64 = 60;

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
