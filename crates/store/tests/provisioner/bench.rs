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
    Database, EngineStore, ProvisionerStore, Sealer, Set,
    engine::Time,
    on,
    provisioner::{Kubeconfig, NewRuntime, NewRuntimeResult, Runtime, TOPIC},
    sealed::Keys,
    testing::{ManualReplica, TestDatabase},
};
use uuid::Uuid;

const KIND: &str = "provision";

/// Both stores, and what they are made of.
pub(crate) struct Bench {
    pub(crate) store: ProvisionerStore,
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
        database.migrate(Set::Provisioner).await.unwrap();
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

    /// The provisioner's store with other keys than "old".
    pub(crate) fn with_keys(&self, ids: &[&str]) -> ProvisionerStore {
        stores(&self.database, &Sealer::new(&keys(ids)), &self.clock).1
    }

    /// Accepts a new runtime, and gives its operation.
    pub(crate) async fn order(&self, runtime: &NewRuntime) -> OperationId {
        let operation = operation(runtime.id);
        let id = operation.id;
        let accepted = self.store.accept_new(runtime, None, operation).await.unwrap();
        assert_eq!(accepted, NewRuntimeResult::Accepted);
        id
    }

    /// A runtime whose first operation has ended.
    pub(crate) async fn ready(&self, shoot: &str) -> Runtime {
        let runtime = runtime(shoot);
        self.order(&runtime).await;
        let replica = self.hands.join().await;
        self.hands.end(replica, runtime.id, Value::Null).await;
        self.find(runtime.id).await
    }

    /// A runtime that is gone.
    pub(crate) async fn deleted(&self, shoot: &str) -> Runtime {
        let runtime = runtime(shoot);
        self.order(&runtime).await;
        let replica = self.hands.join().await;
        self.hands.end(replica, runtime.id, serde_json::json!({ "deleted": true })).await;
        self.find(runtime.id).await
    }

    pub(crate) async fn find(&self, runtime: Uuid) -> Runtime {
        self.store.find(runtime).await.unwrap().unwrap()
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

fn stores(database: &Database, sealer: &Sealer, clock: &Clock) -> (EngineStore, ProvisionerStore) {
    let time = Time::Held(clock.clone());
    let engine = EngineStore::new(database.clone(), sealer.clone(), time, PlantedBug::Nothing);
    let store = ProvisionerStore::new(engine, clock.clone());
    (store.engine().clone(), store)
}

/// The keys of these names, always the same; the first one seals.
pub(crate) fn keys(ids: &[&str]) -> Keys {
    let key = |id: &&str| format!("{id}:{}", STANDARD.encode([id.as_bytes()[0]; 32]));
    let list = ids.iter().map(key).collect::<Vec<_>>().join(",");
    Keys::parse(&list.into()).unwrap()
}

/// A runtime to order.
pub(crate) fn runtime(shoot: &str) -> NewRuntime {
    NewRuntime {
        id: Uuid::new_v4(),
        tenant: "tenant".into(),
        subaccount: "subaccount".into(),
        shoot: shoot.into(),
        document: b"document".to_vec(),
    }
}

/// An operation on a runtime.
pub(crate) fn operation(runtime: Uuid) -> NewOperation {
    NewOperation {
        id: Uuid::now_v7(),
        instance: runtime.to_string(),
        kind: KIND.into(),
        data_version: 1,
        lane: "tenant".into(),
        input: b"input".to_vec(),
        data: b"data".to_vec(),
        digest: None,
    }
}

pub(crate) fn kubeconfig(text: &str) -> Kubeconfig {
    Kubeconfig { text: text.into(), until: "2026-01-01T20:00:00Z".parse().unwrap() }
}

/// Only one at a time.
pub(crate) fn refuse(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |other| Verdict::Refuse(other.id))
}

/// One behind the other.
pub(crate) fn queue(_: &[Unfinished]) -> Verdict {
    Verdict::Queue
}
