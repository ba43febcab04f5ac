//! A broker whose engine runs jobs, between a landscape and a database.
//!
//! What a reader would get wrong: orders and removals are accepted and not worked on; a hand ends them where a test needs it. Pauses
//! are a thousand times shorter than written.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use base::Clock;
use broker::{
    bindings::{Bindings, RuntimeReach},
    catalog::{Catalog, Offer},
    instances::{Broker, Caller, Deprovision, Parts, Provision, Settings, SuspensionPlans, Update},
    jobs::{self, Aws, Azure, Env, Jobs, LastRun},
};
use clients::{
    Component, Gate, Limits,
    aws::{self, Market},
    azure::{self, Cloud},
    cis,
    gardener::{BindingKind, Gardener, Shoot},
    kubernetes::{Cluster, Clusters},
    provisioner::{self, Provisioner},
};
use engine::{Engine, State, Storage as _, storage::Landed};
use serde_json::{Value, json};
use simulators::{
    pace::Speed,
    testing::{MACHINE, Options, Running},
    trouble::{Kind, Rule},
};
use store::{
    BrokerStore, EngineStore,
    broker::{Instance, TOPIC},
    testing::{Hands, Prepared, Sort},
};
use tempfile::TempDir;
use url::Url;
use uuid::Uuid;

use crate::crash::Crash;

pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
pub(crate) const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";
pub(crate) const TRIAL: &str = "7d55d31d-35ae-4438-bf13-6ffdfa107d9f";
const DAY: Duration = Duration::from_hours(24);

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) jobs: Jobs,
    pub(crate) env: Arc<Env>,
    pub(crate) engine: Engine<EngineStore>,
    pub(crate) store: BrokerStore,
    pub(crate) clock: Clock,
    crash: Option<Arc<Crash>>,
    database: Prepared<BrokerStore>,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new(settings: jobs::Settings) -> Self {
        Self::on(Sort::Sqlite, settings).await
    }

    /// A world on each database.
    pub(crate) async fn both(settings: impl Fn() -> jobs::Settings) -> [Self; 2] {
        [Self::on(Sort::Sqlite, settings()).await, Self::on(Sort::Postgres, settings()).await]
    }

    async fn on(sort: Sort, settings: jobs::Settings) -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::running());
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        options.clusters.garden.pool.dirty = 1;
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let database = Prepared::<BrokerStore>::running(sort, &clock).await;
        let (store, storage) = database.open().await;
        let env = Arc::new(env(&running, &clock, &store, &storage, settings).await);
        let engine = start(storage, &clock, env.clone(), None);
        let jobs = Jobs::new(env.clone());
        let crash = None;
        Self { running, jobs, env, engine, store, clock, crash, database, _folder: folder }
    }

    /// Another replica, as if its process had just been started.
    pub(crate) async fn restart(&mut self) {
        let (_, storage) = self.database.open().await;
        self.engine = start(storage, &self.clock, self.env.clone(), None);
    }

    /// The same, which dies before it stores the result of its step of this number.
    pub(crate) async fn restart_crashing_at_commit(&mut self, number: u32) {
        let (_, storage) = self.database.open().await;
        let crash = Arc::new(Crash::at_commit(number));
        self.engine = start(storage, &self.clock, self.env.clone(), Some(crash.clone()));
        self.crash = Some(crash);
    }

    /// Waits until that has happened.
    pub(crate) async fn crashed(&self) {
        self.crash.as_ref().unwrap().happened().await;
    }

    /// A broker whose orders are so old.
    pub(crate) fn days_ago(&self, days: u32) -> Broker {
        let parts = self.env.broker.parts();
        let clock = Clock::held_at(self.clock.now() - DAY * days);
        let store = BrokerStore::new(parts.operations.clone(), clock.clone());
        Broker::new(Parts {
            operations: store.engine().clone(),
            store,
            shapes: Vec::new(),
            catalog: parts.catalog.clone(),
            offer: parts.offer.clone(),
            accounts: None,
            settings: parts.settings.clone(),
            clock,
        })
    }

    /// An instance that was made some days ago, with this runtime.
    pub(crate) async fn made(&self, days: u32, instance: &str, runtime: Option<Uuid>) -> Instance {
        let broker = self.days_ago(days);
        order(&broker, instance, AWS, "sa-1").await;
        let change = runtime.map_or(Value::Null, |id| json!({ "runtime_id": id }));
        end(&broker, "provision", instance, change).await;
        self.store.find(instance).await.unwrap().unwrap()
    }

    /// An instance that was made and removed.
    pub(crate) async fn removed(&self, instance: &str) {
        self.remove(instance, json!({ "removed": true })).await;
    }

    /// An instance that was made and removed, with something left over.
    pub(crate) async fn left_over(&self, instance: &str) {
        self.remove(instance, json!({ "deleted": true })).await;
    }

    async fn remove(&self, instance: &str, change: Value) {
        self.made(1, instance, None).await;
        let request = Deprovision {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            accepts_incomplete: true,
        };
        let broker = &self.env.broker;
        broker.deprovision(&Caller::default(), request).await.unwrap();
        end(broker, "deprovision", instance, change).await;
    }

    /// A trial that was made, suspended, and removed for good.
    pub(crate) async fn suspended_and_removed(&self, instance: &str) {
        let broker = &self.env.broker;
        order(broker, instance, TRIAL, "sa-2").await;
        end(broker, "provision", instance, Value::Null).await;
        let suspend = Update {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            context: Some(json!({ "active": false })),
            accepts_incomplete: true,
            ..Update::default()
        };
        broker.update(&Caller::default(), suspend).await.unwrap();
        end(broker, "deprovision", instance, Value::Null).await;
        let remove = Deprovision {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            plan_id: TRIAL.into(),
            accepts_incomplete: true,
        };
        broker.deprovision(&Caller::default(), remove).await.unwrap();
        end(broker, "deprovision", instance, json!({ "removed": true })).await;
    }

    /// An instance gets another runtime.
    pub(crate) async fn moved(&self, instance: &str, runtime: Uuid) {
        let request = Deprovision {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            accepts_incomplete: true,
        };
        let broker = &self.env.broker;
        broker.deprovision(&Caller::default(), request).await.unwrap();
        end(broker, "deprovision", instance, json!({ "runtime_id": runtime })).await;
    }

    /// Runs a job to its end.
    pub(crate) async fn run(&self, job: &str, dry_run: bool) -> LastRun {
        let started = self.jobs.run(job, dry_run, "jo").await.unwrap();
        assert!(started.started);
        let ended = self.ended(job, dry_run).await;
        assert_eq!(ended.operation, started.operation);
        ended
    }

    /// The newest run, once it has ended.
    pub(crate) async fn ended(&self, job: &str, dry_run: bool) -> LastRun {
        for _ in 0..3_000 {
            let view = self.jobs.find(job).await.unwrap();
            let run = if dry_run { view.last_dry_run } else { view.last_run };
            match run {
                Some(run) if run.ended_at.is_some() => return run,
                _ => self.clock.sleep(Duration::from_millis(20)).await,
            }
        }
        let run = self.jobs.find(job).await.unwrap().last_run.unwrap();
        panic!("it does not end: {:?}", self.engine.explain(run.operation.uuid()).await);
    }

    /// Runs a job to its good end and gives what it did: candidates, done, skipped, failed.
    pub(crate) async fn counts(&self, job: &str, dry_run: bool) -> [u64; 4] {
        let run = self.run(job, dry_run).await;
        assert_eq!(run.state, State::Succeeded, "{:?}", run.failure);
        counts(&run)
    }

    /// How many operations of a kind an instance has.
    pub(crate) async fn operations(&self, instance: &str, kind: &str) -> usize {
        let all = self.env.broker.parts().operations.of_instances(&[instance]).await.unwrap();
        all.iter().filter(|operation| operation.kind == kind).count()
    }

    /// Gives an order to a simulated system.
    pub(crate) fn tell(&self, system: &str, order: &str, with: &Value) {
        self.running.landscape.order(system, order, with).unwrap();
    }

    /// The next calls of a system get no answer.
    pub(crate) fn down(&self, system: &str, calls: u64) {
        let rule = Rule::next(calls, Kind::Down { refuse: false }).of(system);
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// A Shoot that is paid from an account, perhaps of a runtime.
    pub(crate) async fn shoot(&self, name: &str, annotations: Value) {
        let shoot: Shoot = serde_json::from_value(shoot(name, &annotations)).unwrap();
        self.env.gardener.create(&shoot).await.unwrap();
    }

    /// A Shoot of nobody, with something else in it.
    pub(crate) async fn shoot_with(&self, name: &str, place: &str, value: &str) {
        let mut shoot = shoot(name, &json!({}));
        *shoot.pointer_mut(place).unwrap() = value.into();
        let shoot: Shoot = serde_json::from_value(shoot).unwrap();
        self.env.gardener.create(&shoot).await.unwrap();
    }

    /// Whether there is a Shoot that is not being deleted.
    pub(crate) async fn has_shoot(&self, name: &str) -> bool {
        self.env.gardener.shoot(name).await.unwrap().is_some_and(|shoot| !shoot.is_going())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

pub(crate) fn counts(run: &LastRun) -> [u64; 4] {
    let report = &run.report;
    [report.candidates, report.done, report.skipped, report.failed]
}

/// Orders an instance.
pub(crate) async fn order(broker: &Broker, instance: &str, plan: &str, subaccount: &str) {
    let request = Provision {
        instance_id: instance.into(),
        region: Some("cf-eu10".into()),
        service_id: SERVICE.into(),
        plan_id: plan.into(),
        context: Some(json!({
            "globalaccount_id": subaccount.replace("sa", "ga"), "subaccount_id": subaccount, "user_id": "jo@example.test",
            "sm_operator_credentials": {
                "clientid": "c", "clientsecret": "hush", "sm_url": "https://sm.test",
                "url": "https://auth.test", "xsappname": "x",
            },
        })),
        parameters: Some(json!({"name": instance})),
        maintenance_version: None,
        accepts_incomplete: true,
    };
    broker.provision(&Caller::default(), request).await.unwrap();
}

/// Ends the unfinished operation of an instance, as a step would. A removal that keeps the row has left something.
///
/// On SQLite, whichever replica joined last is the only one that lives: the engine may take the hand's place in between, and the hand
/// joins again.
async fn end(broker: &Broker, kind: &'static str, instance: &str, change: Value) {
    let parts = broker.parts();
    let hands =
        Hands { engine: parts.operations.clone(), clock: parts.clock.clone(), kind, topic: TOPIC };
    for _ in 0..500 {
        if try_end(&hands, instance, &change).await {
            return;
        }
        Clock::running().sleep(Duration::from_millis(20)).await;
    }
    panic!("the {kind} of {instance} cannot be ended");
}

async fn try_end(hands: &Hands, instance: &str, change: &Value) -> bool {
    let replica = hands.join().await;
    let Some(held) = hands.try_claim(replica, instance).await else { return false };
    let mut commit = hands.ends(&held, change.clone());
    if change["deleted"] == true {
        commit.position.incomplete = vec!["EDP_Deregistration".to_owned()];
    }
    let landed = hands.commit(replica, commit).await;
    hands.engine.leave(replica).await.unwrap();
    matches!(landed, Landed::Yes { .. })
}

fn start(
    storage: EngineStore,
    clock: &Clock,
    env: Arc<Env>,
    crash: Option<Arc<Crash>>,
) -> Engine<EngineStore> {
    let settings = engine::Settings {
        pace: 1_000.0,
        lease: Duration::from_secs(1),
        ..engine::Settings::default()
    };
    let builder = Engine::builder(Arc::new(storage), clock.clone(), settings);
    let builder = builder.serve(jobs::plan(), env).unwrap();
    match crash {
        Some(crash) => builder.hooks(crash).start(),
        None => builder.start(),
    }
}

async fn env(
    running: &Running,
    clock: &Clock,
    store: &BrokerStore,
    storage: &EngineStore,
    settings: jobs::Settings,
) -> Env {
    let at = |path: &str| -> Url { format!("{}{path}", running.url).parse().unwrap() };
    let calls = Limits { call: Duration::from_secs(10), ..Limits::CLUSTER };
    let gate = |component| Gate::new(component, calls, clock.clone());
    let kubeconfig = running.clusters().garden_kubeconfig();
    let garden = Cluster::connect(gate(Component::GARDENER), &kubeconfig.into()).await.unwrap();
    let plans = ["aws", "trial", "free"].map(str::to_owned).to_vec();
    let broker = Broker::new(Parts {
        store: store.clone(),
        operations: storage.clone(),
        shapes: Vec::new(),
        catalog: Arc::new(Catalog::embedded().unwrap()),
        offer: Offer { plans, ..Offer::default() },
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
    // Nothing listens there: a provisioner that is down.
    let nowhere =
        provisioner::Settings { url: "http://127.0.0.1:9".parse().unwrap(), access: None };
    let tokens = || gate(Component::ISSUER);
    let provisioner =
        Provisioner::through(gate(provisioner::COMPONENT), tokens(), &nowhere).unwrap();
    let clusters =
        Clusters::new(Component::RUNTIME, calls, clock.clone(), NonZeroUsize::new(10).unwrap());
    let reach = RuntimeReach { provisioner: provisioner.clone(), clusters };
    let cis = cis::Settings {
        url: at("/cis"),
        token_url: at("/oauth2/token"),
        client_id: MACHINE.0.into(),
        client_secret: MACHINE.1.to_owned().into(),
        page_size: 2,
    };
    Env {
        bindings: Bindings::new(broker.clone(), reach, Duration::from_secs(5)),
        broker,
        gardener: Gardener::new(garden, "kyma", "kcp-test"),
        account_bindings: BindingKind::Secret,
        provisioner,
        events: Some(cis::Events::through(gate(cis::COMPONENT), tokens(), &cis).unwrap()),
        aws: Aws {
            endpoint: Some(at("/aws/")),
            market: Market::Chinese,
            gate: gate(aws::COMPONENT),
        },
        azure: Azure {
            cloud: Cloud { authority: at("/azure"), management: at("/azure") },
            gate: gate(azure::COMPONENT),
            tokens: tokens(),
        },
        settings,
    }
}

fn shoot(name: &str, annotations: &Value) -> Value {
    let version = "aws.provider.extensions.gardener.cloud/v1alpha1";
    json!({
        "metadata": {"name": name, "labels": {"account": "ga-1", "owner.do-not-delete": "false"}, "annotations": annotations},
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": "aws-free-1",
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {"version": "1.25.6"},
            "provider": {
                "type": "aws",
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig", "apiVersion": version,
                    "networks": {
                        "vpc": {"cidr": "10.250.0.0/16"},
                        "zones": [{
                            "name": "eu-central-1a", "internal": "10.250.48.0/20",
                            "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                        }],
                    },
                },
                "workers": [{
                    "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3,
                    "maximum": 10, "maxSurge": 3, "maxUnavailable": 0,
                    "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1a"],
                }],
            },
        },
    })
}
