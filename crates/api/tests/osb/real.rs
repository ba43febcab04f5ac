//! A real broker on a database of its own, and the hand that ends operations in place of an engine.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    catalog::{Catalog, Offer},
    instances::{Broker, Parts, Settings, SuspensionPlans},
    operations::view::{AuditEntry, AuditFilter, AuditLog},
};
use engine::{
    PlantedBug, State, Storage,
    storage::{AfterCommit, Change, ClaimRequest, Commit, CommitResult},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    BrokerStore, EngineStore, Sealer, Set,
    engine::{Filter, Time},
    testing::TestDatabase,
};

use crate::{
    service::{Service, WAITING},
    support::tokens::NOW,
};

pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
pub(crate) const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";
/// Every plan by its name.
pub(crate) const PLANS: [&str; 9] =
    ["azure", "azure_lite", "aws", "gcp", "openstack", "trial", "free", "own_cluster", "preview"];

pub(crate) struct Real {
    pub(crate) service: Service,
    broker: Broker,
    engine: EngineStore,
    clock: Clock,
    _database: TestDatabase,
}

impl Real {
    pub(crate) async fn start() -> Self {
        Self::start_with(false).await
    }

    /// A broker for which requests without `accepts_incomplete` are asynchronous, or not.
    pub(crate) async fn start_with(assume_async: bool) -> Self {
        let mut real = Self::without_platforms().await;
        real.service = Service::of(real.broker.clone(), assume_async).await;
        real
    }

    /// A broker on this database, with an audit or without.
    pub(crate) async fn on(test: TestDatabase, audited: bool) -> Self {
        let mut real = Self::over(test).await;
        let service = Service::of(real.broker.clone(), false).await;
        let audit = AuditLog::new(real.engine.clone());
        real.service = if audited { service.audited(audit) } else { service };
        real
    }

    /// A broker that no platform has a password for.
    pub(crate) async fn without_platforms() -> Self {
        Self::over(TestDatabase::sqlite()).await
    }

    async fn over(test: TestDatabase) -> Self {
        let clock = Clock::held_at(Timestamp::from_second(NOW).unwrap());
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sealer = Sealer::generate();
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, sealer, time, PlantedBug::Nothing);
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
                suspension: SuspensionPlans::default(),
                legacy: None,
            },
            clock: clock.clone(),
        });
        let service = Service::opened_to(broker.clone(), false, vec![]).await;
        Self { service, broker, engine, clock, _database: test }
    }

    /// Orders this instance and lets it be made.
    pub(crate) async fn make(&self, instance: &str) {
        let path = format!("/oauth/cf-eu10/v2/service_instances/{instance}?{WAITING}");
        let reply = self.service.put(&path, &order()).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
        self.end(State::Succeeded, vec![]).await;
    }

    /// The input of the newest operation, as it is stored.
    pub(crate) async fn stored_input(&self) -> Value {
        let filter = Filter { most: 1, ..Filter::default() };
        let newest = self.engine.list(&filter).await.unwrap().operations[0].id;
        let snapshot = self.engine.read(newest).await.unwrap().unwrap();
        serde_json::from_slice(&snapshot.input).unwrap()
    }

    /// What the audit has, up to a thousand entries.
    pub(crate) async fn audited(&self) -> Vec<AuditEntry> {
        let filter = AuditFilter { most: 1_000, ..AuditFilter::default() };
        AuditLog::new(self.engine.clone()).page(&filter).await.unwrap().entries
    }

    /// How many operations are stored, up to a few thousand.
    pub(crate) async fn operations(&self) -> usize {
        let filter = Filter { most: 10_000, ..Filter::default() };
        self.engine.list(&filter).await.unwrap().operations.len()
    }

    /// Lets the operation that runs end in this state.
    pub(crate) async fn end(&self, state: State, changes: Vec<Change>) {
        let joined = self.engine.join("hand", Duration::from_secs(60)).await.unwrap();
        let kinds = ["provision", "update", "deprovision"].map(|kind| (kind.to_owned(), 1));
        let replica = joined.replica;
        let ask = ClaimRequest { replica, kinds: &kinds, room: 1, crowded: &[], after_lane: "" };
        let mut held = self.engine.claim(&ask).await.unwrap().operations.remove(0);
        held.position.state = state;
        held.position.ended_at = Some(self.clock.now());
        let commit = Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position: held.position,
            then: AfterCommit::End,
            run: None,
            data: None,
            data_version: 1,
            changes,
        };
        let landed = self.engine.commit(replica, &[commit]).await.unwrap();
        assert!(matches!(landed[0], CommitResult::Yes { .. }), "{landed:?}");
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
