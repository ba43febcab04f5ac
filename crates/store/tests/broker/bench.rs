//! What every promise is tried with: both stores on one database, a clock in the test's hand, and a
//! few short words.

use std::time::Duration;

use base::Clock;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::{
    OperationId, Planted, Position, ReplicaId, State, Storage as _,
    storage::{
        Ask, Change, Commit, Held, Landed, NewOperation, Outcome, Run, Then, Unfinished, Verdict,
    },
};
use serde_json::Value;
use store::{
    BrokerStore, Database, EngineStore, Sealer, Set,
    broker::{AcceptedInstance, Instance, Limits, NewInstance, TOPIC},
    engine::Time,
    on,
    sealed::Keys,
    testing::TestDatabase,
};
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(600);
const KIND: &str = "provision";

/// Both stores, and what they are made of.
pub(crate) struct Bench {
    pub(crate) store: BrokerStore,
    pub(crate) engine: EngineStore,
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
        Self { store, engine, database, clock, test }
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
        self.store.accept_new(new, digest, operation, &Limits::default()).await.unwrap()
    }

    /// An instance whose first operation has ended.
    pub(crate) async fn ready(&self, id: &str) -> Instance {
        self.made(id, Value::Null).await;
        self.find(id).await
    }

    /// An instance whose first operation has ended, with a change; gives the operation.
    pub(crate) async fn made(&self, id: &str, change: Value) -> OperationId {
        let operation = self.order(&instance(id)).await;
        let replica = self.join().await;
        self.end(replica, id, change).await;
        operation
    }

    pub(crate) async fn find(&self, id: &str) -> Instance {
        self.store.find(id).await.unwrap().unwrap()
    }

    pub(crate) async fn is_gone(&self, id: &str) -> bool {
        self.store.find(id).await.unwrap().is_none()
    }

    pub(crate) async fn join(&self) -> ReplicaId {
        let name = Uuid::new_v4().to_string();
        self.engine.join(&name, LEASE).await.unwrap().replica
    }

    /// Claims the operation of an instance that is due.
    pub(crate) async fn claim(&self, replica: ReplicaId, instance: &str) -> Held {
        let kinds = [(KIND.to_owned(), 1)];
        let ask = Ask { replica, kinds: &kinds, room: 100, crowded: &[], after_lane: "" };
        let claimed = self.engine.claim(&ask).await.unwrap().operations;
        claimed.into_iter().find(|held| held.instance == instance).unwrap()
    }

    /// A step is done, with a change to its instance unless it is null.
    pub(crate) fn done(&self, held: &Held, change: Value) -> Commit {
        let now = self.clock.now();
        let (stage, step) = (String::from("create"), String::from("Ask"));
        let position = Position {
            state: State::InProgress,
            stage: Some(stage.clone()),
            step: Some(step.clone()),
            started_at: Some(now),
            ..held.position.clone()
        };
        let run = Run {
            stage,
            step,
            number: held.runs + 1,
            began_at: now,
            ended_at: now,
            outcome: Outcome::Done,
            reason: None,
            failure: None,
            next_at: None,
            repeats: None,
        };
        let change = Some(change).filter(|body| !body.is_null());
        Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position,
            then: Then::Hold,
            run: Some(run),
            data: None,
            data_version: held.data_version,
            changes: change.map(|body| Change { topic: TOPIC.into(), body }).into_iter().collect(),
        }
    }

    /// The last step is done.
    pub(crate) fn ends(&self, held: &Held, change: Value) -> Commit {
        let mut commit = self.done(held, change);
        commit.position.state = State::Succeeded;
        commit.position.stage = None;
        commit.position.step = None;
        commit.position.ended_at = Some(self.clock.now());
        commit.then = Then::End;
        commit
    }

    pub(crate) async fn commit(&self, replica: ReplicaId, commit: Commit) -> Landed {
        self.engine.commit(replica, &[commit]).await.unwrap().remove(0)
    }

    /// Claims the operation of an instance, and ends it.
    pub(crate) async fn end(&self, replica: ReplicaId, instance: &str, change: Value) {
        let held = self.claim(replica, instance).await;
        let landed = self.commit(replica, self.ends(&held, change)).await;
        assert!(matches!(landed, Landed::Yes { .. }), "{landed:?}");
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
    let engine = EngineStore::new(database.clone(), sealer.clone(), time, Planted::Nothing);
    let store = BrokerStore::new(engine.clone(), sealer.clone(), clock.clone());
    (engine.with_changes(store.changes()), store)
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
