//! A broker whose engine provisions and deprovisions, on a database of its own, and what became of its orders.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    Details, Order,
    chores::maintenance::{self, MaintenanceEnding, Times},
    creations::Creations,
    following::Follower,
    instances::pairs,
    operations::{
        Env, Input, ProvisioningLimits, Systems,
        deprovisioning::{self, Deprovisioning},
        provisioning::{self, Provisioning},
        update::{self, Updating},
        upgrade_cluster::{self, UpgradingCluster},
        upgrade_kyma::{self, UpgradingKyma},
    },
};
use engine::{
    Engine, Operation, OperationId, Plan, PlantedBug, State, Storage,
    storage::{Acceptance, Snapshot},
};
use store::{
    BrokerStore, EngineStore, Sealer, Set, broker::MaintenancePart, engine::Time,
    testing::TestDatabase,
};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::{
    orders::{OrderSpec, row},
    outside::Outside,
};

/// Steps poll so many times faster than written.
const PACE: f64 = 1_000.0;

pub(crate) struct Broker {
    pub(crate) store: BrokerStore,
    pub(crate) engine: Engine<EngineStore>,
    pub(crate) clock: Clock,
    env: Arc<Env>,
    sealer: Sealer,
    database: Arc<TestDatabase>,
}

/// Plans for provisioning and deprovisioning.
pub(crate) struct Plans {
    pub(crate) provisioning: Plan<Provisioning>,
    pub(crate) deprovisioning: Plan<Deprovisioning>,
}

/// An operation that has ended.
#[derive(Clone)]
pub(crate) struct EndedOperation {
    pub(crate) order: Order,
    pub(crate) details: Details,
    pub(crate) snapshot: Snapshot,
    pub(crate) journal: Vec<engine::storage::Entry>,
}

impl Plans {
    pub(crate) fn of(env: &Env, limits: ProvisioningLimits) -> Self {
        let removing = deprovisioning::DeprovisioningLimits::default();
        Self {
            provisioning: provisioning::plan(&limits, Systems::of(env)),
            deprovisioning: deprovisioning::plan(&removing, Systems::of(env)),
        }
    }
}

impl Broker {
    pub(crate) async fn start(outside: &Outside) -> Self {
        let env = Box::pin(outside.env(&outside.clock)).await;
        Box::pin(Self::with(outside, env, ProvisioningLimits::default())).await
    }

    pub(crate) async fn with(outside: &Outside, env: Env, limits: ProvisioningLimits) -> Self {
        let plans = Plans::of(&env, limits);
        Box::pin(Self::serving(outside, env, plans)).await
    }

    /// A broker with all defaults on this database.
    pub(crate) async fn start_on(outside: &Outside, database: TestDatabase) -> Self {
        let env = Box::pin(outside.env(&outside.clock)).await;
        let plans = Plans::of(&env, ProvisioningLimits::default());
        Box::pin(Self::serving_on(database, outside, env, plans)).await
    }

    pub(crate) async fn serving(outside: &Outside, env: Env, plans: Plans) -> Self {
        Box::pin(Self::serving_on(TestDatabase::sqlite(), outside, env, plans)).await
    }

    async fn serving_on(database: TestDatabase, outside: &Outside, env: Env, plans: Plans) -> Self {
        let database = Arc::new(database);
        let opened = database.database().await;
        for set in [Set::Engine, Set::Broker] {
            opened.migrate(set).await.unwrap();
        }
        opened.close().await;
        Box::pin(Self::on(database, Sealer::generate(), outside, env, plans, PACE)).await
    }

    /// Another process on the same database, after this one has been killed.
    pub(crate) async fn killed_and_started(self, outside: &Outside) -> Self {
        let env = Box::pin(outside.env(&outside.clock)).await;
        Box::pin(self.replaced(outside, env, PACE)).await
    }

    /// The same, with one that follows the provisioner's operations and polls so rarely that a test ends before: a second is two minutes.
    pub(crate) async fn killed_and_following(self, outside: &Outside) -> Self {
        let (env, clock) = (Box::pin(outside.env(&outside.clock)).await, outside.clock.clone());
        let operations = self.store.engine().clone();
        let follower = Some(Follower::new(env.provisioner.clone(), operations, clock));
        Box::pin(self.replaced(outside, Env { follower, ..env }, 1.0 / 120.0)).await
    }

    async fn replaced(self, outside: &Outside, env: Env, pace: f64) -> Self {
        self.engine.kill();
        let plans = Plans::of(&env, ProvisioningLimits::default());
        let (database, sealer) = (self.database.clone(), self.sealer.clone());
        Box::pin(Self::on(database, sealer, outside, env, plans, pace)).await
    }

    async fn on(
        database: Arc<TestDatabase>,
        sealer: Sealer,
        outside: &Outside,
        env: Env,
        plans: Plans,
        pace: f64,
    ) -> Self {
        let (opened, clock) = (database.database().await, outside.clock.clone());
        let plain = EngineStore::new(opened, sealer.clone(), Time::Database, PlantedBug::Nothing);
        let store = BrokerStore::new(plain, clock.clone());
        let storage = store.engine().clone();
        let settings = engine::Settings {
            // Started again, it takes over at once.
            replica: Some("broker".into()),
            pace,
            workers: 20,
            ..engine::Settings::default()
        };
        let creations = Creations::new(store.clone(), clock.clone());
        let env = Arc::new(Env { store: store.clone(), creations, ..env });
        let changing = update::plan(&update::UpdateLimits::default(), Systems::of(&env));
        let engine = Engine::builder(Arc::new(storage), clock.clone(), settings)
            .serve(plans.provisioning, env.clone())
            .unwrap()
            .serve(plans.deprovisioning, env.clone())
            .unwrap()
            .serve(changing, env.clone())
            .unwrap()
            .serve(
                upgrade_kyma::plan(&upgrade_kyma::UpgradeKymaLimits::default(), Systems::of(&env)),
                env.clone(),
            )
            .unwrap()
            .serve(
                upgrade_cluster::plan(
                    &upgrade_cluster::UpgradeClusterLimits::default(),
                    Systems::of(&env),
                ),
                env.clone(),
            )
            .unwrap()
            .start();
        Self { store, engine, clock, env, sealer, database }
    }

    /// The engine's store as another process has it: with connections of its own, which end with that process.
    pub(crate) async fn store_of_another_process(&self) -> EngineStore {
        let opened = self.database.database().await;
        EngineStore::new(opened, self.sealer.clone(), Time::Database, PlantedBug::Nothing)
    }

    /// The files of its database, as text.
    pub(crate) fn raw_database(&self) -> Vec<String> {
        let url = self.database.url();
        let file = url.strip_prefix("sqlite://").unwrap();
        let raw = ["", "-wal"].map(|end| std::fs::read(format!("{file}{end}")).unwrap_or_default());
        raw.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).into()
    }

    /// Takes an order to its end.
    pub(crate) async fn provision(
        &self,
        outside: &Outside,
        wish: &OrderSpec<'_>,
    ) -> EndedOperation {
        let (order, id) = self.order(outside, wish).await;
        let details = |snapshot: &Snapshot| serde_json::from_slice(&snapshot.data).unwrap();
        self.ended(order, id, details).await
    }

    /// Accepts an order.
    pub(crate) async fn order(
        &self,
        outside: &Outside,
        wish: &OrderSpec<'_>,
    ) -> (Order, OperationId) {
        let order = wish.order(&outside.catalog);
        outside.introduce(&order.context.globalaccount_id);
        self.store.insert(&row(&order)).await.unwrap();
        let input = Input { order: order.clone() };
        let id = self.accept::<Provisioning>(&order, input, Details::default()).await;
        (order, id)
    }

    /// Begins a change.
    pub(crate) async fn begin_update(&self, input: update::Input) -> OperationId {
        self.begin_update_knowing(input, update::Data::default()).await
    }

    /// Begins a change that has learnt something already.
    pub(crate) async fn begin_update_knowing(
        &self,
        input: update::Input,
        data: update::Data,
    ) -> OperationId {
        let order = input.order.clone();
        Box::pin(self.accept::<Updating>(&order, input, data)).await
    }

    /// Takes a change to its end.
    pub(crate) async fn update(&self, input: update::Input) -> EndedOperation {
        let order = input.order.clone();
        let id = self.begin_update(input).await;
        let details = |snapshot: &Snapshot| {
            let data: update::Data = serde_json::from_slice(&snapshot.data).unwrap();
            data.details
        };
        self.ended(order, id, details).await
    }

    /// Begins an upgrade of Kyma.
    pub(crate) async fn begin_upgrade_kyma(&self, input: upgrade_kyma::Input) -> OperationId {
        let order = input.order.clone();
        let data = upgrade_kyma::Data::default();
        Box::pin(self.accept::<UpgradingKyma>(&order, input, data)).await
    }

    /// Takes an upgrade of Kyma to its end.
    pub(crate) async fn upgrade_kyma(&self, input: upgrade_kyma::Input) -> EndedOperation {
        let order = input.order.clone();
        let id = self.begin_upgrade_kyma(input).await;
        self.ended(order, id, upgraded).await
    }

    /// Begins an upgrade of a cluster.
    pub(crate) async fn begin_upgrade_cluster(&self, input: upgrade_cluster::Input) -> OperationId {
        let order = input.order.clone();
        let data = upgrade_cluster::Data::default();
        Box::pin(self.accept::<UpgradingCluster>(&order, input, data)).await
    }

    /// Takes an upgrade of a cluster to its end.
    pub(crate) async fn upgrade_cluster(&self, input: upgrade_cluster::Input) -> EndedOperation {
        let order = input.order.clone();
        let id = self.begin_upgrade_cluster(input).await;
        self.ended(order, id, upgraded).await
    }

    /// Ends the maintenance of upgrades that have ended well; of how many.
    pub(crate) async fn end_maintenance(&self) -> usize {
        let times = Times { again: Duration::ZERO, ..Times::default() };
        let ending = MaintenanceEnding::new(&self.env, self.clock.clone(), times);
        ending.end_due().await.unwrap()
    }

    /// Ends the maintenance of upgrades that have ended well, and gives up what is refused; of how many.
    pub(crate) async fn end_refused_maintenance(&self) -> usize {
        let times = Times { refused: Duration::ZERO, ..Times::default() };
        let ending = MaintenanceEnding::new(&self.env, self.clock.clone(), times);
        ending.end_due().await.unwrap()
    }

    /// Ends the maintenance of all upgrades that have ended, once nothing of them is on its way any more.
    pub(crate) async fn settle(&self) {
        let times = Times { again: Duration::ZERO, settled: Duration::ZERO, ..Times::default() };
        let ending = MaintenanceEnding::new(&self.env, self.clock.clone(), times);
        assert_eq!(ending.end_due().await.unwrap(), 1);
    }

    /// What ends maintenance in another replica, whose time is `clock`'s.
    pub(crate) async fn maintenance_ending(
        &self,
        outside: &Outside,
        clock: &Clock,
    ) -> MaintenanceEnding {
        let store = BrokerStore::new(self.store.engine().clone(), clock.clone());
        let env = Env { store, ..Box::pin(outside.env(clock)).await };
        MaintenanceEnding::new(&env, clock.clone(), Times::default())
    }

    /// Ends maintenance again and again, until it is aborted.
    pub(crate) async fn keep_ending_maintenance(&self, outside: &Outside) -> JoinHandle<()> {
        let env = Box::pin(outside.env(&self.clock)).await;
        let env = Env { store: self.store.clone(), ..env };
        let times = Times { every: Duration::from_millis(10), ..Times::default() };
        let ending = MaintenanceEnding::new(&env, self.clock.clone(), times);
        tokio::spawn(maintenance::keep(ending))
    }

    /// How many maintenances another replica could end at a time.
    pub(crate) async fn due_maintenances(&self, at: jiff::Timestamp) -> usize {
        let store = BrokerStore::new(self.store.engine().clone(), Clock::held_at(at));
        let parts = [MaintenancePart::Evaluations, MaintenancePart::Announcement];
        let due = parts.map(|part| store.due_maintenances(part, Duration::ZERO, 10));
        futures::future::try_join_all(due).await.unwrap().concat().len()
    }

    /// Until an operation waits for something.
    pub(crate) async fn until_waiting(&self, id: OperationId) {
        for _ in 0..2_000 {
            let snapshot = self.engine.storage().read(id).await.unwrap().unwrap();
            if snapshot.waiting_since.is_some() {
                return;
            }
            self.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not wait");
    }

    /// Removes an instance, with everything.
    pub(crate) async fn deprovision(&self, order: &Order) -> EndedOperation {
        let id = self.remove(order).await;
        let details = |snapshot: &Snapshot| {
            let data: deprovisioning::Data = serde_json::from_slice(&snapshot.data).unwrap();
            data.details
        };
        self.ended(order.clone(), id, details).await
    }

    /// Accepts the end of an instance, whatever is being done with it.
    pub(crate) async fn remove(&self, order: &Order) -> OperationId {
        let input =
            deprovisioning::Input { order: order.clone(), user_agent: None, temporary: false };
        self.accept::<Deprovisioning>(order, input, deprovisioning::Data::default()).await
    }

    async fn accept<O: Operation>(
        &self,
        order: &Order,
        input: O::Input,
        data: O::Data,
    ) -> OperationId {
        let id = Uuid::now_v7();
        let accepted = engine::Order::<O> {
            id,
            instance: order.instance_id.clone(),
            lane: order.context.globalaccount_id.clone(),
            input,
            data,
            digest: None,
        };
        let is_upgrade = [UpgradingKyma::KIND, UpgradingCluster::KIND].contains(&O::KIND);
        let pairs = |unfinished: &[_]| {
            if is_upgrade {
                pairs::upgrade_verdict(id, unfinished)
            } else {
                pairs::verdict(O::KIND, id, unfinished)
            }
        };
        let accepted = self.engine.accept(accepted, &pairs).await.unwrap();
        assert!(matches!(accepted, Acceptance::Started | Acceptance::Queued), "{accepted:?}");
        id
    }

    async fn ended(
        &self,
        order: Order,
        id: OperationId,
        details: impl FnOnce(&Snapshot) -> Details,
    ) -> EndedOperation {
        let snapshot = self.end_of(id).await;
        let journal = self.engine.storage().journal(id).await.unwrap();
        EndedOperation { order, details: details(&snapshot), snapshot, journal }
    }

    pub(crate) async fn end_of(&self, id: OperationId) -> Snapshot {
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

/// The instance details that an upgrade has stored.
fn upgraded(snapshot: &Snapshot) -> Details {
    let data: upgrade_kyma::Data = serde_json::from_slice(&snapshot.data).unwrap();
    data.details
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

impl EndedOperation {
    /// Checks that it went well.
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.snapshot.state, State::Succeeded, "{:#?}", self.journal);
        self
    }

    /// Checks that it went well and that nothing was skipped.
    pub(crate) fn completed(self) -> Self {
        assert!(self.snapshot.incomplete.is_empty(), "{:#?}", self.journal);
        self.succeeded()
    }

    /// The runtime's id.
    pub(crate) fn runtime(&self) -> String {
        self.details.runtime_id.unwrap().to_string()
    }

    /// The operation, as the ledger knows it.
    pub(crate) fn operation(&self) -> String {
        self.snapshot.id.to_string()
    }
}
