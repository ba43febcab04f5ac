//! A few operations in a database, and the engine that works on them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api::health::Readiness;
use base::Clock;
use broker::operations::view::Operations;
use engine::{
    Cx, Engine, Operation, Order, Plan, PlantedBug, Retry, Settings, Step, StepResult, done,
    storage::Verdict, waiting,
};
use jiff::Timestamp;
use store::{EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};

/// An operation that waits for parts.
pub const RUNNING: &str = "018f0000-0000-7000-8000-000000000001";
/// One that has ended.
pub const ENDED: &str = "018f0000-0000-7000-8000-000000000002";

const LIMIT: Duration = Duration::from_hours(1);

/// Builds something, and waits for its parts as long as the clock stands still.
struct Building;

impl Operation for Building {
    const KIND: &'static str = "building";
    type Input = String;
    type Data = Option<Timestamp>;
    type Memory = ();
    type Env = ();
}

struct OrderParts;

impl Step<Building> for OrderParts {
    const NAME: &'static str = "Order_Parts";

    async fn run(&self, cx: &mut Cx<'_, Building>) -> StepResult {
        *cx.data = Some(cx.now);
        done()
    }
}

struct WaitForParts;

impl Step<Building> for WaitForParts {
    const NAME: &'static str = "Wait_For_Parts";
    const RETRY: Retry = Retry::every(Duration::from_secs(5)).waiting_for(LIMIT);

    async fn run(&self, cx: &mut Cx<'_, Building>) -> StepResult {
        match *cx.data {
            Some(at) if cx.now <= at => waiting("the parts are on their way").into(),
            _ => done(),
        }
    }
}

/// Does nothing, and ends at once.
struct Nothing;

impl Operation for Nothing {
    const KIND: &'static str = "nothing";
    type Input = String;
    type Data = Option<Timestamp>;
    type Memory = ();
    type Env = ();
}

struct DoNothing;

impl Step<Nothing> for DoNothing {
    const NAME: &'static str = "Do_Nothing";

    async fn run(&self, _: &mut Cx<'_, Nothing>) -> StepResult {
        done()
    }
}

/// The operations of a service.
pub struct Service {
    pub operations: Operations,
    _database: TestDatabase,
}

impl Service {
    /// One operation that waits and one that has ended.
    pub async fn start() -> Self {
        let service = Self::empty().await;
        service.accept::<Building>(RUNNING, "instance-1").await;
        service.accept::<Nothing>(ENDED, "instance-2").await;
        service
    }

    /// Without any operation.
    pub async fn empty() -> Self {
        let clock = Clock::held_at(Timestamp::from_second(super::tokens::NOW).unwrap());
        let test = TestDatabase::sqlite();
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        let time = Time::Held(clock.clone());
        let store = EngineStore::new(database, Sealer::generate(), time, PlantedBug::Nothing);
        let building = Plan::<Building>::within(LIMIT)
            .stage("order")
            .step(OrderParts)
            .stage("build")
            .step(WaitForParts.or_leave("the parts"));
        let nothing = Plan::<Nothing>::within(LIMIT).stage("all").step(DoNothing);
        let engine = Engine::builder(Arc::new(store), clock, Settings::default())
            .serve(building, Arc::new(()))
            .unwrap()
            .serve(nothing, Arc::new(()))
            .unwrap()
            .start();
        Self { operations: Operations::new(engine), _database: test }
    }

    /// Accepts the operation that waits.
    pub async fn begin(&self) {
        self.accept::<Building>(RUNNING, "instance-1").await;
    }

    /// Accepts an operation and follows it until it waits or has ended.
    async fn accept<O: Operation<Input = String, Data = Option<Timestamp>>>(
        &self,
        id: &str,
        instance: &str,
    ) {
        let engine = self.operations.engine();
        let mut events = engine.events();
        let order = Order::<O> {
            id: id.parse().unwrap(),
            instance: instance.into(),
            lane: String::new(),
            input: "secret".into(),
            data: None,
            digest: None,
        };
        engine.accept(order, &|_| Verdict::Queue).await.unwrap();
        loop {
            let event = events.recv().await.unwrap();
            if event.instance == instance && (event.state.is_final() || event.next_at.is_some()) {
                return;
            }
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.operations.engine().kill();
    }
}

/// A service whose engine has no lease.
pub struct Half;

impl Readiness for Half {
    fn parts(
        &self,
    ) -> std::pin::Pin<Box<dyn Future<Output = BTreeMap<&'static str, bool>> + Send + '_>> {
        Box::pin(std::future::ready([("database", true), ("engine", false)].into()))
    }
}
