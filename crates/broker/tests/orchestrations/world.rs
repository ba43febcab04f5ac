//! A broker with orchestrations on a database, and upgrades that do as they are told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use base::{Clock, Failure};
use broker::{
    catalog::{Catalog, Offer},
    instances::{
        Broker, Caller, Deprovision, Parts as BrokerParts, Provision, Settings, SuspensionPlans,
        UpgradeTarget,
    },
    operations::{Systems, orchestration, view::Operations},
    orchestrations::{
        Followers, OperationItem, OrchestrationEnv, Orchestrations, PageRequest, StatusItem,
        wake_drivers,
    },
};
use clients::spc::Spc;
use domain::{
    OperationId,
    orchestration::{Kind, Parameters},
};
use engine::{
    Cx, Engine, Operation, Plan, Retry, State, Step, StepError, StepResult, Storage as _, done,
    storage::{AfterCommit, Change, ClaimRequest, Commit, CommitResult},
    wait,
};
use serde_json::{Value, json};
use store::{
    BrokerStore, EngineStore,
    testing::{PreparedDatabase, Sort},
};
use tokio::{sync::broadcast, task::JoinHandle};
use uuid::Uuid;

use crate::windows::FixedWindows;

const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";

/// An upgrade of Kyma that does nothing but count.
struct Upgrading;

impl Operation for Upgrading {
    const KIND: &'static str = "upgradeKyma";
    type Input = Value;
    type Data = Value;
    type Memory = ();
    type Env = Upgrades;
}

/// Scripted upgrades, and their record.
#[derive(Default)]
pub(crate) struct Upgrades {
    /// Whether none ends.
    pub(crate) held: AtomicBool,
    /// The instances whose upgrades fail.
    pub(crate) failing: Mutex<BTreeSet<String>>,
    /// The operations that upgraded an instance, well or not.
    pub(crate) upgraded: Mutex<BTreeMap<String, BTreeSet<Uuid>>>,
    /// Running upgrades, and the highest number of them.
    running: Mutex<(BTreeSet<Uuid>, usize)>,
}

impl Upgrades {
    pub(crate) fn most_at_a_time(&self) -> usize {
        self.running.lock().unwrap().1
    }

    pub(crate) fn operations_of(&self, instance: &str) -> usize {
        self.upgraded.lock().unwrap().get(instance).map_or(0, BTreeSet::len)
    }

    pub(crate) fn fail(&self, instances: &[&str]) {
        *self.failing.lock().unwrap() = instances.iter().map(ToString::to_string).collect();
    }
}

/// An operation whose first step only waits has not begun.
struct Begin;

impl Step<Upgrading> for Begin {
    const NAME: &'static str = "Begin";

    async fn run(&self, _: &mut Cx<'_, Upgrading>) -> StepResult {
        done()
    }
}

struct Upgrade;

impl Step<Upgrading> for Upgrade {
    const NAME: &'static str = "Upgrade";
    const RETRY: Retry = Retry::every(Duration::from_secs(1));

    async fn run(&self, cx: &mut Cx<'_, Upgrading>) -> StepResult {
        {
            let mut running = cx.env.running.lock().unwrap();
            running.0.insert(cx.operation);
            running.1 = running.1.max(running.0.len());
        }
        if cx.env.held.load(SeqCst) {
            return wait("the test holds it");
        }
        cx.env.running.lock().unwrap().0.remove(&cx.operation);
        let mut upgraded = cx.env.upgraded.lock().unwrap();
        upgraded.entry(cx.instance.to_owned()).or_default().insert(cx.operation);
        drop(upgraded);
        if cx.env.failing.lock().unwrap().contains(cx.instance) {
            let failure = Failure::new("reconciler", "reconciliation_failed", "it did not work");
            return Err(StepError::fatal(failure));
        }
        done()
    }
}

pub(crate) struct World {
    pub(crate) orchestrations: Orchestrations,
    pub(crate) broker: Broker,
    pub(crate) upgrades: Arc<Upgrades>,
    operations: EngineStore,
    pub(crate) windows: Arc<FixedWindows>,
    clock: Clock,
    engine: Mutex<Option<(Engine<EngineStore>, JoinHandle<()>)>>,
    /// Kept until the end.
    _database: Option<PreparedDatabase<BrokerStore>>,
}

impl World {
    pub(crate) async fn sqlite() -> Self {
        Self::on(Sort::Sqlite).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(Sort::Postgres).await
    }

    async fn on(sort: Sort) -> Self {
        let clock = Clock::running();
        let database = PreparedDatabase::<BrokerStore>::running(sort, &clock).await;
        let (store, operations) = database.open().await;
        Self::kept(store, operations, clock, None, Some(database))
    }

    /// On stores of a database; with SPC, customers are told.
    pub(crate) fn of(
        store: BrokerStore,
        operations: EngineStore,
        clock: Clock,
        spc: Option<Spc>,
    ) -> Self {
        Self::kept(store, operations, clock, spc, None)
    }

    fn kept(
        store: BrokerStore,
        operations: EngineStore,
        clock: Clock,
        spc: Option<Spc>,
        database: Option<PreparedDatabase<BrokerStore>>,
    ) -> Self {
        let broker = Broker::new(BrokerParts {
            store,
            operations: operations.clone(),
            shapes: vec![],
            catalog: Arc::new(Catalog::embedded().unwrap()),
            offer: Offer { plans: vec!["aws".into()], ..Offer::default() },
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
        let windows = Arc::<FixedWindows>::default();
        let parts = OrchestrationEnv {
            broker: broker.clone(),
            windows: windows.clone(),
            spc,
            kyma_version: "2.10.0".into(),
            versions: None,
            followers: Followers::default(),
        };
        let (orchestrations, upgrades) = (Orchestrations::new(Arc::new(parts)), Arc::default());
        let engine = Mutex::new(None);
        Self {
            orchestrations,
            broker,
            upgrades,
            operations,
            windows,
            clock,
            engine,
            _database: database,
        }
    }

    /// Runtimes `i-0`, `i-1` and so on, each in an account of its own.
    pub(crate) async fn made(&self, number: usize) {
        for n in 0..number {
            self.broker.provision(&Caller::default(), order(n)).await.unwrap();
        }
        let joined = self.operations.join("hand", Duration::from_secs(60)).await.unwrap();
        let kinds = [("provision".to_owned(), 1)];
        let mut left = number;
        while left > 0 {
            let ask = ClaimRequest {
                replica: joined.replica,
                kinds: &kinds,
                room: 1_000,
                crowded: &[],
                after_lane: "",
            };
            let claimed = self.operations.claim(&ask).await.unwrap().operations;
            left -= claimed.len();
            let now = self.clock.now();
            let ended = claimed.into_iter().map(|mut held| {
                held.position.state = State::Succeeded;
                held.position.started_at = Some(now);
                held.position.ended_at = Some(now);
                let change = json!({ "runtime_id": Uuid::now_v7() });
                Commit {
                    id: held.id,
                    epoch: held.epoch,
                    serial: held.serial,
                    position: held.position,
                    then: AfterCommit::End,
                    run: None,
                    data: None,
                    data_version: 1,
                    changes: vec![Change { topic: "instance".into(), body: change }],
                }
            });
            let ended: Vec<Commit> = ended.collect();
            let landed = self.operations.commit(joined.replica, &ended).await.unwrap();
            assert!(
                landed.iter().all(|landed| matches!(landed, CommitResult::Yes { .. })),
                "{landed:?}"
            );
        }
        self.operations.leave(joined.replica).await.unwrap();
    }

    /// Begins to work, or begins again after [`World::kill`].
    pub(crate) fn work(&self) {
        let settings = engine::Settings {
            replica: Some("one".into()),
            pace: 100.0,
            ..engine::Settings::default()
        };
        let upgrading = Plan::within(Duration::from_secs(3600)).each(Begin).each(Upgrade);
        let engine =
            Engine::builder(Arc::new(self.operations.clone()), self.clock.clone(), settings)
                .serve(upgrading, self.upgrades.clone())
                .unwrap()
                .serve(orchestration::plan(Systems::NONE), self.orchestrations.parts().clone())
                .unwrap()
                .start();
        let waking = tokio::spawn(wake_drivers(self.orchestrations.clone(), engine.events()));
        *self.engine.lock().unwrap() = Some((engine, waking));
    }

    /// Stops as if the process had died.
    pub(crate) fn kill(&self) {
        let (engine, waking) = self.engine.lock().unwrap().take().unwrap();
        engine.kill();
        waking.abort();
    }

    fn events(&self) -> broadcast::Receiver<Arc<engine::Event>> {
        self.engine.lock().unwrap().as_ref().unwrap().0.events()
    }

    /// The operations, as operators see them.
    pub(crate) fn operations(&self) -> Operations {
        Operations::new(self.engine.lock().unwrap().as_ref().unwrap().0.clone())
    }

    /// The operation that drives an orchestration.
    pub(crate) async fn driver(&self, id: &str) -> Uuid {
        let row = self.broker.parts().store.orchestration(id.parse().unwrap()).await.unwrap();
        row.unwrap().driver
    }

    /// Begins an upgrade of all runtimes with this strategy.
    pub(crate) async fn upgrade_all(&self, strategy: &Value) -> String {
        let created = self.orchestrations.create(Kind::UpgradeKyma, parameters(strategy)).await;
        created.unwrap().orchestration_id.to_string()
    }

    pub(crate) async fn get(&self, id: &str) -> StatusItem {
        self.orchestrations.get(id).await.unwrap()
    }

    /// Waits until an orchestration is as it should be.
    pub(crate) async fn until(&self, id: &str, is: impl Fn(&StatusItem) -> bool) -> StatusItem {
        let mut events = self.events();
        let mut last = self.get(id).await;
        for _ in 0..3_000 {
            if is(&last) {
                return last;
            }
            // Whatever happens, or a moment in which nothing does.
            let _ = tokio::time::timeout(Duration::from_millis(20), events.recv()).await;
            last = self.get(id).await;
        }
        panic!("it never came to that: {last:?}");
    }

    /// Waits until something holds.
    pub(crate) async fn until_true(&self, holds: impl AsyncFn() -> bool) {
        let mut events = self.events();
        for _ in 0..3_000 {
            if holds().await {
                return;
            }
            let _ = tokio::time::timeout(Duration::from_millis(20), events.recv()).await;
        }
        panic!("it never came to that");
    }

    pub(crate) async fn ended(&self, id: &str) -> StatusItem {
        let states = ["succeeded", "failed", "canceled"];
        self.until(id, |it| states.contains(&it.state.as_str())).await
    }

    /// Keeps a runtime busy: nobody works on upgrades of clusters here, so this one does not end.
    pub(crate) async fn occupy(&self, instance: &str) {
        let target = UpgradeTarget::Cluster {
            kubernetes_version: None,
            machine_image: None,
            machine_image_version: None,
        };
        let other = broker::instances::Upgrade {
            orchestration: None,
            dry_run: false,
            notify: false,
            target,
        };
        self.broker.upgrade(instance, OperationId::new(), other).await.unwrap();
    }

    /// The upgrade of an instance in an orchestration.
    pub(crate) async fn operation_of(&self, id: &str, instance: &str) -> OperationItem {
        let page = self.orchestrations.operations(id, &PageRequest::default()).await.unwrap();
        page.data.into_iter().find(|it| it.instance_id == instance).unwrap()
    }

    pub(crate) async fn remove(&self, instance: &str) {
        let removal = Deprovision {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            accepts_incomplete: true,
        };
        self.broker.deprovision(&Caller::default(), removal).await.unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some((engine, waking)) = self.engine.lock().unwrap().take() {
            engine.kill();
            waking.abort();
        }
    }
}

/// An upgrade of all runtimes with this strategy.
pub(crate) fn parameters(strategy: &Value) -> Parameters {
    let body = json!({
        "targets": { "include": [{ "target": "all" }] }, "strategy": strategy, "kyma": {},
    });
    serde_json::from_value(body).unwrap()
}

/// How many runtimes are in a state.
pub(crate) fn number(status: &StatusItem, state: &str) -> u64 {
    status.operation_stats.as_ref().unwrap().get(state).copied().unwrap_or_default()
}

fn order(n: usize) -> Provision {
    Provision {
        instance_id: format!("i-{n}"),
        region: Some("cf-eu10".into()),
        service_id: SERVICE.into(),
        plan_id: AWS.into(),
        context: Some(json!({
            "globalaccount_id": format!("tn-{n}"),
            "subaccount_id": format!("sa-{n}"),
            "user_id": "Jo@Example.test",
            "sm_operator_credentials": {
                "clientid": "c", "clientsecret": "hush", "sm_url": "https://sm.test",
                "url": "https://auth.test", "xsappname": "x",
            },
        })),
        parameters: Some(json!({ "name": "dev" })),
        maintenance_version: None,
        accepts_incomplete: true,
    }
}
