//! A broker whose engine runs jobs, between a landscape and a database.
//!
//! What a reader would get wrong: orders and removals are accepted and not worked on; a hand ends them where a test needs it. Pauses
//! are a thousand times shorter than written.

use std::{sync::Arc, time::Duration};

use base::Clock;
use broker::{
    instances::{Broker, Caller, Deprovision, Provision, Update},
    jobs::{self, Env, Jobs, LastRun},
};
use engine::{
    Engine, State, Storage as _,
    storage::{Commit, CommitResult, HeldOperation},
};
use serde_json::{Value, json};
use simulators::{
    pace::Speed,
    testing::{Options, Running},
    trouble::{Kind, Rule},
};
use store::{
    BrokerStore, EngineStore,
    broker::{Instance, TOPIC},
    testing::{ManualReplica, PreparedDatabase, Sort},
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    crash::Crash,
    ended::suspension,
    environment::{self, NOWHERE, Outside},
    provisioner::SimulatedProvisioner,
};

pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
pub(crate) const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";
pub(crate) const FREE: &str = "b1a5764e-2ea1-4f95-94c0-2b4538b37b55";
pub(crate) const TRIAL: &str = "7d55d31d-35ae-4438-bf13-6ffdfa107d9f";

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) provisioner: SimulatedProvisioner,
    pub(crate) jobs: Jobs,
    pub(crate) env: Arc<Env>,
    pub(crate) engine: Engine<EngineStore>,
    pub(crate) store: BrokerStore,
    pub(crate) clock: Clock,
    crash: Option<Arc<Crash>>,
    database: PreparedDatabase<BrokerStore>,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new(settings: jobs::Settings) -> Self {
        Self::on(Sort::Sqlite, settings, false).await
    }

    /// A world whose provisioner is not down.
    pub(crate) async fn with_provisioner(settings: jobs::Settings) -> Self {
        Self::on(Sort::Sqlite, settings, true).await
    }

    /// A world on each database.
    pub(crate) async fn both(settings: impl Fn() -> jobs::Settings) -> [Self; 2] {
        let sqlite = Self::on(Sort::Sqlite, settings(), false).await;
        [sqlite, Self::on(Sort::Postgres, settings(), false).await]
    }

    async fn on(sort: Sort, settings: jobs::Settings, provisions: bool) -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::running());
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        options.clusters.garden.pool.dirty = 1;
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let database = PreparedDatabase::<BrokerStore>::running(sort, &clock).await;
        let (store, storage) = database.open().await;
        let provisioner = SimulatedProvisioner::start(&running, &clock).await;
        let outside = if provisions {
            Outside { running: &running, provisioner: &provisioner.url }
        } else {
            Outside { running: &running, provisioner: NOWHERE }
        };
        let env = Arc::new(outside.env(&clock, &store, &storage, settings).await);
        let engine = start(storage, &clock, env.clone(), None);
        let jobs = Jobs::new(env.clone());
        let crash = None;
        Self {
            running,
            provisioner,
            jobs,
            env,
            engine,
            store,
            clock,
            crash,
            database,
            _folder: folder,
        }
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
        environment::days_ago(&self.env, &self.clock, days)
    }

    /// An instance that was made some days ago, with this runtime.
    pub(crate) async fn made(&self, days: u32, instance: &str, runtime: Option<Uuid>) -> Instance {
        let change = runtime.map_or(Value::Null, |id| json!({ "runtime_id": id }));
        self.made_with(days, instance, change).await
    }

    /// An instance that was made some days ago, with this change of its row.
    pub(crate) async fn made_with(&self, days: u32, instance: &str, change: Value) -> Instance {
        made_by(&self.days_ago(days), instance, change).await
    }

    /// An instance that was made and removed.
    pub(crate) async fn removed(&self, instance: &str) {
        self.remove(instance, json!({ "removed": true })).await;
    }

    /// An instance that was made and removed, with something left over.
    pub(crate) async fn left_over(&self, instance: &str) {
        self.remove(instance, json!({ "deleted": true })).await;
    }

    /// The same that this user had ordered.
    pub(crate) async fn removed_of_user(&self, instance: &str, user: &str) {
        let broker = self.days_ago(1);
        order_as(&broker, instance, AWS, "sa-1", user).await;
        end(&broker, "provision", instance, Value::Null).await;
        self.remove_made(instance, json!({ "removed": true })).await;
    }

    async fn remove(&self, instance: &str, change: Value) {
        self.made(1, instance, None).await;
        self.remove_made(instance, change).await;
    }

    async fn remove_made(&self, instance: &str, change: Value) {
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
        broker.update(&Caller::default(), suspension(instance)).await.unwrap();
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

    /// An update of an instance has begun.
    pub(crate) async fn updating(&self, instance: &str, parameters: Value) {
        let change = Update {
            instance_id: instance.into(),
            service_id: SERVICE.into(),
            parameters: Some(parameters),
            accepts_incomplete: true,
            ..Update::default()
        };
        let broker = &self.env.broker;
        broker.update(&Caller::default(), change).await.unwrap();
        let commit = |hands: &ManualReplica, held: &HeldOperation| hands.done(held, Value::Null);
        run_step(broker, "update", instance, &commit).await;
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
    order_as(broker, instance, plan, subaccount, "jo@example.test").await;
}

/// The same as this user.
async fn order_as(broker: &Broker, instance: &str, plan: &str, subaccount: &str, user: &str) {
    let request = Provision {
        instance_id: instance.into(),
        region: Some("cf-eu10".into()),
        service_id: SERVICE.into(),
        plan_id: plan.into(),
        context: Some(json!({
            "globalaccount_id": subaccount.replace("sa", "ga"), "subaccount_id": subaccount, "user_id": user,
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

/// An instance that a broker has made, with this change of its row.
pub(crate) async fn made_by(broker: &Broker, instance: &str, change: Value) -> Instance {
    order(broker, instance, AWS, "sa-1").await;
    end(broker, "provision", instance, change).await;
    broker.parts().store.find(instance).await.unwrap().unwrap()
}

/// Ends the unfinished operation of an instance, as a step would. A removal that keeps the row has left something.
///
/// On SQLite, whichever replica joined last is the only one that lives: the engine may take the hand's place in between, and the hand
/// joins again.
pub(crate) async fn end(broker: &Broker, kind: &'static str, instance: &str, change: Value) {
    let commit = |hands: &ManualReplica, held: &HeldOperation| {
        let mut commit = hands.ends(held, change.clone());
        if change["deleted"] == true {
            commit.position.incomplete = vec!["EDP_Deregistration".to_owned()];
        }
        commit
    };
    run_step(broker, kind, instance, &commit).await;
}

/// Runs a step of an operation as another replica would.
pub(crate) async fn run_step(
    broker: &Broker,
    kind: &'static str,
    instance: &str,
    commit: &(dyn Fn(&ManualReplica, &HeldOperation) -> Commit + Sync),
) {
    let parts = broker.parts();
    let hands = ManualReplica {
        engine: parts.operations.clone(),
        clock: parts.clock.clone(),
        kind,
        topic: TOPIC,
    };
    for _ in 0..500 {
        let replica = hands.join().await;
        if let Some(held) = hands.try_claim(replica, instance).await {
            let landed = hands.commit(replica, commit(&hands, &held)).await;
            hands.engine.leave(replica).await.unwrap();
            if matches!(landed, CommitResult::Yes { .. }) {
                return;
            }
        }
        Clock::running().sleep(Duration::from_millis(20)).await;
    }
    panic!("no step of the {kind} of {instance} can be run");
}

fn start(
    storage: EngineStore,
    clock: &Clock,
    env: Arc<Env>,
    crash: Option<Arc<Crash>>,
) -> Engine<EngineStore> {
    let usual = engine::Settings::default();
    // One that dies is soon known to be dead; the others keep their leases on a busy machine.
    let lease = if crash.is_some() { Duration::from_secs(1) } else { usual.lease };
    let settings = engine::Settings { pace: 1_000.0, lease, ..usual };
    let builder = Engine::builder(Arc::new(storage), clock.clone(), settings);
    let builder = builder.serve(jobs::plan(), env).unwrap();
    match crash {
        Some(crash) => builder.hooks(crash).start(),
        None => builder.start(),
    }
}
