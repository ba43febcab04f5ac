//! Databases with the broker's rows in them.

use std::sync::Arc;

use base::Clock;
use broker::{Details, Order};
use engine::Planted;
use store::{
    BrokerStore, Database, EngineStore, Sealer, Set, broker::NewInstance, engine::Time,
    testing::TestDatabase,
};

/// A database that is opened as often as a process would.
pub(crate) struct Made {
    test: TestDatabase,
    sealer: Sealer,
    time: Time,
    clock: Clock,
}

impl Made {
    /// On a clock that the test holds, or on the database's.
    pub(crate) async fn new(postgres: bool, clock: &Clock, held: bool) -> Arc<Self> {
        let test = if postgres { TestDatabase::postgres().await } else { TestDatabase::sqlite() };
        let database = test.database().await;
        for set in [Set::Engine, Set::Broker] {
            database.migrate(set).await.unwrap();
        }
        database.close().await;
        let time = if held { Time::Held(clock.clone()) } else { Time::Database };
        Arc::new(Self { test, sealer: Sealer::generate(), time, clock: clock.clone() })
    }

    pub(crate) async fn open(&self) -> (BrokerStore, EngineStore) {
        let database = Database::open(&store::Options::new(self.test.url())).await.unwrap();
        let (sealer, time) = (self.sealer.clone(), self.time.clone());
        let plain = EngineStore::new(database, sealer.clone(), time, Planted::Nothing);
        let rows = BrokerStore::new(plain.clone(), sealer, self.clock.clone());
        let storage = plain.with_changes(rows.changes());
        (rows, storage)
    }
}

/// The row of an instance; `details` is what the last finished operation knew.
pub(crate) fn row(order: &Order, details: Option<&Details>) -> NewInstance {
    NewInstance {
        id: order.instance_id.clone(),
        global_account: order.context.globalaccount_id.clone(),
        subaccount: order.context.subaccount_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        plan_name: order.plan_name.clone(),
        provider: order.resolved.provider_word().into(),
        region: order.resolved.region_word().into(),
        platform_region: order.platform_region.clone(),
        shoot_name: order.shoot_name.clone(),
        dashboard_url: order.dashboard_url.clone(),
        order: serde_json::to_vec(order).unwrap(),
        details: details.map(|details| serde_json::to_vec(details).unwrap()),
    }
}
