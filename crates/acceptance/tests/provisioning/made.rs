//! A broker whose engine provisions, on a database of its own, and what became of its orders.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    Details, Order,
    operations::{
        Env, Input, Limits,
        provisioning::{self, Provisioning, Switches},
    },
};
use engine::{Engine, Plan, Planted, State, Storage, storage::Snapshot};
use store::{BrokerStore, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};
use uuid::Uuid;

use crate::{
    orders::{Wish, row},
    outside::Outside,
};

/// See the module.
pub(crate) struct Broker {
    pub(crate) store: BrokerStore,
    pub(crate) engine: Engine<EngineStore>,
    clock: Clock,
    _database: TestDatabase,
}

/// An order that has ended.
pub(crate) struct Ended {
    pub(crate) order: Order,
    pub(crate) details: Details,
    pub(crate) snapshot: Snapshot,
    pub(crate) journal: Vec<engine::storage::Entry>,
}

impl Broker {
    pub(crate) async fn start(outside: &Outside) -> Self {
        let env = outside.env(&outside.clock).await;
        Self::with(outside, env, Limits::default()).await
    }

    pub(crate) async fn with(outside: &Outside, env: Env, limits: Limits) -> Self {
        let plan = provisioning::plan(&limits, Switches::of(&env));
        Self::serving(outside, env, plan).await
    }

    pub(crate) async fn serving(outside: &Outside, env: Env, plan: Plan<Provisioning>) -> Self {
        let database = TestDatabase::sqlite();
        let opened = database.database().await;
        for set in [Set::Engine, Set::Broker] {
            opened.migrate(set).await.unwrap();
        }
        let (clock, sealer) = (outside.clock.clone(), Sealer::generate());
        let plain = EngineStore::new(opened, sealer.clone(), Time::Database, Planted::Nothing);
        let store = BrokerStore::new(plain.clone(), sealer, clock.clone());
        let storage = Arc::new(plain.with_changes(store.changes()));
        let settings =
            engine::Settings { pace: 1_000.0, workers: 20, ..engine::Settings::default() };
        let engine = Engine::builder(storage, clock.clone(), settings)
            .serve(plan, Arc::new(env))
            .unwrap()
            .start();
        Self { store, engine, clock, _database: database }
    }

    /// Takes an order to its end.
    pub(crate) async fn provision(&self, outside: &Outside, wish: &Wish<'_>) -> Ended {
        let order = wish.order(&outside.catalog);
        outside.introduce(&order.context.globalaccount_id);
        self.store.insert(&row(&order)).await.unwrap();
        let id = Uuid::new_v4();
        let accepted = engine::Order::<Provisioning> {
            id,
            instance: order.instance_id.clone(),
            lane: order.context.globalaccount_id.clone(),
            input: Input { order: order.clone() },
            data: Details::default(),
            digest: None,
        };
        self.engine.accept(accepted, &|_| engine::storage::Verdict::Queue).await.unwrap();
        let snapshot = self.end_of(id).await;
        let details = serde_json::from_slice(&snapshot.data).unwrap();
        let journal = self.engine.storage().journal(id).await.unwrap();
        Ended { order, details, snapshot, journal }
    }

    async fn end_of(&self, id: Uuid) -> Snapshot {
        let mut events = self.engine.events();
        let waiting = async {
            loop {
                let snapshot = self.engine.storage().read(id).await.unwrap().unwrap();
                if snapshot.state.is_final() {
                    return snapshot;
                }
                let soon = self.clock.sleep(Duration::from_millis(200));
                tokio::select! { _ = events.recv() => {}, () = soon => {} }
            }
        };
        match tokio::time::timeout(Duration::from_secs(300), waiting).await {
            Ok(snapshot) => snapshot,
            Err(_) => {
                let why = self.engine.explain(id).await.unwrap();
                panic!("the operation does not end: {why:?}")
            }
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

impl Ended {
    /// Checks that it went well.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.snapshot.state, State::Succeeded, "{:#?}", self.journal);
        self
    }

    /// The runtime's id.
    pub(crate) fn runtime(&self) -> String {
        self.details.runtime_id.unwrap().to_string()
    }
}
