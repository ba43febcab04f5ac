//! A real broker on a database of its own, and the hand that ends operations in place of an engine.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    catalog::{Catalog, Offer},
    instances::{Broker, Parts, Settings},
};
use engine::{
    Planted, State, Storage,
    storage::{Ask, Change, Commit, Landed, Then},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    BrokerStore, EngineStore, Sealer, Set,
    engine::{Filter, Time},
    testing::TestDatabase,
};

use crate::{service::Service, support::tokens::NOW};

pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
pub(crate) const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";
/// Every plan by its name.
pub(crate) const PLANS: [&str; 9] =
    ["azure", "azure_lite", "aws", "gcp", "openstack", "trial", "free", "own_cluster", "preview"];

pub(crate) struct Real {
    pub(crate) service: Service,
    engine: EngineStore,
    clock: Clock,
    _database: TestDatabase,
}

impl Real {
    pub(crate) async fn start() -> Self {
        Self::start_with(false).await
    }

    /// A broker that takes platforms without `accepts_incomplete` for ones that can wait, or does not.
    pub(crate) async fn start_with(assume_async: bool) -> Self {
        let test = TestDatabase::sqlite();
        let clock = Clock::held_at(Timestamp::from_second(NOW).unwrap());
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sealer = Sealer::generate();
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, sealer, time, Planted::Nothing);
        let store = BrokerStore::new(engine, clock.clone());
        let engine = store.engine().clone();
        let broker = Broker::new(Parts {
            store,
            operations: engine.clone(),
            shapes: vec![],
            catalog: Arc::new(Catalog::embedded().unwrap()),
            offer: Offer { plans: PLANS.map(str::to_owned).to_vec(), ..Offer::default() },
            accounts: None,
            settings: Settings {
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: None,
                trial_notice: None,
                legacy: None,
            },
            clock: clock.clone(),
        });
        let service = Service::with(Arc::new(broker), assume_async).await;
        Self { service, engine, clock, _database: test }
    }

    /// How many operations are stored, up to a few thousand.
    pub(crate) async fn operations(&self) -> usize {
        let filter = Filter { most: 10_000, ..Filter::default() };
        self.engine.list(&filter).await.unwrap().operations.len()
    }

    /// Lets the operation that runs end in this state.
    pub(crate) async fn end(&self, state: State, changes: Vec<Change>) {
        let joined = self.engine.join("hand", Duration::from_secs(60)).await.unwrap();
        let kinds = ["provision", "deprovision"].map(|kind| (kind.to_owned(), 1));
        let replica = joined.replica;
        let ask = Ask { replica, kinds: &kinds, room: 1, crowded: &[], after_lane: "" };
        let mut held = self.engine.claim(&ask).await.unwrap().operations.remove(0);
        held.position.state = state;
        held.position.ended_at = Some(self.clock.now());
        let commit = Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position: held.position,
            then: Then::End,
            run: None,
            data: None,
            data_version: 1,
            changes,
        };
        let landed = self.engine.commit(replica, &[commit]).await.unwrap();
        assert!(matches!(landed[0], Landed::Yes { .. }), "{landed:?}");
        self.engine.leave(replica).await.unwrap();
    }
}

/// A good order.
pub(crate) fn order() -> Value {
    json!({
        "service_id": SERVICE,
        "plan_id": AWS,
        "organization_guid": "org",
        "space_guid": "space",
        "context": {
            "platform": "cloudfoundry",
            "globalaccount_id": "ga-1",
            "subaccount_id": "sa-1",
            "user_id": "jo@example.test",
        },
        "parameters": {"name": "dev"},
        "an_extension": {"of": "the platform"},
    })
}
