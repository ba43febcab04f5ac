//! Our own database, and imports into it.

use std::sync::Arc;

use base::Clock;
use broker::{
    catalog::{Catalog, Offer},
    import::Import,
    instances::{Broker, Caller, Parts, Settings, SuspensionPlans},
    runtimes::{Runtime, RuntimesQuery, StateWord},
};
use engine::PlantedBug;
use store::{
    BrokerStore, EngineStore, Sealer, Set,
    engine::Time,
    import::{Error, KebSource, Mode, Report, SourceKey},
    testing::{Databases, TestDatabase, originals::OriginalDatabase},
};

use crate::original::{KEY, PLANS};

pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) store: BrokerStore,
    catalog: Arc<Catalog>,
    clock: Clock,
    _database: TestDatabase,
}

impl World {
    /// One on each database.
    pub(crate) async fn both() -> Vec<Self> {
        let mut worlds = Vec::new();
        for (_, database) in Databases::both().await {
            worlds.push(Self::on(database).await);
        }
        worlds
    }

    pub(crate) async fn on(test: TestDatabase) -> Self {
        let clock = Clock::running();
        let database = test.database().await;
        for set in [Set::Engine, Set::Broker] {
            database.migrate(set).await.unwrap();
        }
        let engine =
            EngineStore::new(database, Sealer::generate(), Time::Database, PlantedBug::Nothing);
        let store = BrokerStore::new(engine, clock.clone());
        let catalog = Arc::new(Catalog::embedded().unwrap());
        let broker = Broker::new(Parts {
            store: store.clone(),
            operations: store.engine().clone(),
            shapes: Vec::new(),
            catalog: catalog.clone(),
            offer: Offer {
                plans: PLANS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
                ..Offer::default()
            },
            accounts: None,
            settings: Settings {
                legacy: None,
                suspension: SuspensionPlans::default(),
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: None,
                trial_notice: None,
            },
            clock: clock.clone(),
        });
        Self { broker, store, catalog, clock, _database: test }
    }

    pub(crate) async fn import(&self, from: &OriginalDatabase, mode: Mode) -> Report {
        self.import_as(from, mode, false).await.unwrap()
    }

    pub(crate) async fn import_as(
        &self,
        from: &OriginalDatabase,
        mode: Mode,
        unfinished: bool,
    ) -> Result<Report, Error> {
        self.import_from(&mut open(from, KEY).await?, mode, unfinished).await
    }

    pub(crate) async fn import_from(
        &self,
        source: &mut KebSource,
        mode: Mode,
        unfinished: bool,
    ) -> Result<Report, Error> {
        let (store, catalog, clock) = (&self.store, &*self.catalog, &self.clock);
        let import = Import { store, catalog, mode, unfinished, clock };
        Box::pin(import.run(source)).await
    }

    /// All runtimes, and those whose rows are gone.
    pub(crate) async fn runtimes(&self, word: &str) -> Vec<Runtime> {
        let mut all = Vec::new();
        let states: Vec<StateWord> = vec![word.parse().unwrap()];
        for page in 1.. {
            let ask = RuntimesQuery {
                page,
                states: states.clone(),
                cluster_config: true,
                kyma_config: true,
                ..RuntimesQuery::default()
            };
            let operator = Caller { any_tenant: true, ..Caller::default() };
            let read = self.broker.runtimes(&operator, &ask).await.unwrap();
            if read.data.is_empty() {
                break;
            }
            all.extend(read.data);
        }
        all
    }
}

pub(crate) async fn open(from: &OriginalDatabase, key: &str) -> Result<KebSource, Error> {
    let key = SourceKey::new(key.to_owned().into())?;
    KebSource::open(&from.url().to_owned().into(), Some(key)).await
}
