//! What every promise is tried with: both stores on one database, a clock in the test's hand, and a
//! few short words.

use std::time::Duration;

use base::Clock;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::{
    OperationId, PlantedBug, Storage as _,
    storage::{NewOperation, Unfinished, Verdict},
};
use serde_json::Value;
use store::{
    BrokerStore, Database, EngineStore, Sealer, Set,
    broker::{AcceptedInstance, Instance, InstanceLimits, NewInstance, TOPIC},
    engine::Time,
    on,
    sealed::Keys,
    testing::{ManualReplica, TestDatabase},
};
use uuid::Uuid;

const KIND: &str = "provision";

/// Both stores, and what they are made of.
pub(crate) struct Bench {
    pub(crate) store: BrokerStore,
    pub(crate) engine: EngineStore,
    pub(crate) hands: ManualReplica,
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    pub(crate) test: TestDatabase,
}

impl Bench {
    pub(crate) async fn sqlite() -> Self {
        Self::on(TestDatabase::sqlite()).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(TestDatabase::postgres().await).await
    }

    async fn on(test: TestDatabase) -> Self {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let (engine, store) = stores(&database, &Sealer::new(&keys(&["old"])), &clock);
        let hands = ManualReplica {
            engine: engine.clone(),
            clock: clock.clone(),
            kind: KIND,
            topic: TOPIC,
        };
        Self { store, engine, hands, database, clock, test }
    }

    /// The broker's store with other keys than "old".
    pub(crate) fn with_keys(&self, ids: &[&str]) -> BrokerStore {
        stores(&self.database, &Sealer::new(&keys(ids)), &self.clock).1
    }

    /// Accepts an order, and gives its operation.
    pub(crate) async fn order(&self, new: &NewInstance) -> OperationId {
        let operation = operation(&new.id);
        let id = operation.id;
        let accepted = self.accept_new(new, operation).await;
        assert_eq!(accepted, AcceptedInstance::Accepted);
        id
    }

    /// Hands an order in whose request is the same whenever its id is, without limits.
    pub(crate) async fn accept_new(
        &self,
        new: &NewInstance,
        operation: NewOperation,
    ) -> AcceptedInstance {
        let digest = new.id.as_bytes();
        self.store.accept_new(new, digest, operation, &InstanceLimits::default()).await.unwrap()
    }

    /// An instance whose first operation has ended.
    pub(crate) async fn ready(&self, id: &str) -> Instance {
        self.made(id, Value::Null).await;
        self.find(id).await
    }

    /// An instance whose first operation has ended, with a change; gives the operation.
    pub(crate) async fn made(&self, id: &str, change: Value) -> OperationId {
        let operation = self.order(&instance(id)).await;
        let replica = self.hands.join().await;
        self.hands.end(replica, id, change).await;
        operation
    }

    pub(crate) async fn find(&self, id: &str) -> Instance {
        self.store.find(id).await.unwrap().unwrap()
    }

    pub(crate) async fn is_gone(&self, id: &str) -> bool {
        self.store.find(id).await.unwrap().is_none()
    }

    /// Whether an operation is stored.
    pub(crate) async fn is_stored(&self, operation: OperationId) -> bool {
        self.engine.read(operation).await.unwrap().is_some()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        on!(self.database.writer(), |pool| sqlx::query(sql).execute(pool).await.map(drop)).unwrap();
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        on!(self.database.reader(), |pool| sqlx::query_scalar(sql).fetch_one(pool).await).unwrap()
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

fn stores(database: &Database, sealer: &Sealer, clock: &Clock) -> (EngineStore, BrokerStore) {
    let time = Time::Held(clock.clone());
    let engine = EngineStore::new(database.clone(), sealer.clone(), time, PlantedBug::Nothing);
    let store = BrokerStore::new(engine, clock.clone());
    (store.engine().clone(), store)
}

/// The keys of these names, always the same; the first one seals.
pub(crate) fn keys(ids: &[&str]) -> Keys {
    let key = |id: &&str| format!("{id}:{}", STANDARD.encode([id.as_bytes()[0]; 32]));
    let list = ids.iter().map(key).collect::<Vec<_>>().join(",");
    Keys::parse(&list.into()).unwrap()
}

/// An instance to order.
pub(crate) fn instance(id: &str) -> NewInstance {
    NewInstance {
        id: id.into(),
        global_account: "account".into(),
        subaccount: "subaccount".into(),
        service_id: "service".into(),
        plan_id: "plan-id".into(),
        plan_name: "aws".into(),
        provider: String::new(),
        region: String::new(),
        platform_region: "cf-eu10".into(),
        shoot_name: format!("c-{id}"),
        dashboard_url: "https://dashboard.test".into(),
        order: b"order".to_vec(),
        details: None,
    }
}

/// An operation on an instance.
pub(crate) fn operation(instance: &str) -> NewOperation {
    NewOperation {
        id: Uuid::now_v7(),
        instance: instance.into(),
        kind: KIND.into(),
        data_version: 1,
        lane: "account".into(),
        input: b"input".to_vec(),
        data: b"data".to_vec(),
        digest: None,
    }
}

/// Only one at a time.
pub(crate) fn refuse(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}

/// One behind the other.
pub(crate) fn queue(_: &[Unfinished]) -> Verdict {
    Verdict::Queue
}
