//! Runs of jobs that are tried on a clock that is held, one after the other in one landscape, with trouble in their calls.
//!
//! What a reader would get wrong: each trial has rows and candidates of its own. What an earlier one has left outside is still there, and
//! the report has it as well.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use base::Clock;
use broker::jobs::{self, Data, EnvironmentSettings, Input, JobRun, Outcome, Settings};
use clients::{
    gardener::{RUNTIME_ANNOTATION, Shoot},
    kubernetes::Resource,
};
use engine::{
    State,
    testing::{Scenario, Setting, TrialResult, try_out},
};
use serde_json::{Value, json};
use simulators::{
    pace::Speed,
    testing::{Options, Running},
    trouble::Rule,
};
use store::{
    BrokerStore,
    testing::{Sort, Trials},
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    bindings::expire,
    environment::{self, Outside},
    provisioner::SimulatedProvisioner,
    shoots::shoot,
    world::{AWS, made_by, order},
};

/// A runtime that the provisioner has made.
const RUNTIME: Uuid = Uuid::from_u128(7);
const AWS_KEY: &str = "AKIA-aws-dirty-1";
const SUBSCRIPTION: &str = "subscription-of-azure-dirty-1";
const ACCOUNTS: Resource = Resource {
    group: "core.gardener.cloud",
    version: "v1beta1",
    kind: "SecretBinding",
    plural: "secretbindings",
};

/// A landscape for many runs.
pub(crate) struct TriedJobs {
    pub(crate) running: Running,
    provisioner: SimulatedProvisioner,
    trials: Trials<BrokerStore>,
    made: AtomicU32,
    _folder: TempDir,
}

/// One run of a job.
struct Trial<'a> {
    jobs: &'a TriedJobs,
    job: &'static str,
    number: u32,
    /// The trouble, once its candidates are there.
    rules: Vec<Rule>,
}

/// A run that has ended.
pub(crate) struct EndedRun {
    pub(crate) state: State,
    pub(crate) took: Duration,
    pub(crate) tried: TrialResult,
    pub(crate) data: Data,
    number: u32,
}

impl TriedJobs {
    pub(crate) async fn start() -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::running());
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        let pool = &mut options.clusters.garden.pool;
        pool.providers = ["aws", "azure", "gcp"].map(str::to_owned).into();
        pool.dirty = 1;
        let running = Running::with(folder.path(), clock.clone(), 1, options).await;
        let provisioner = SimulatedProvisioner::start(&running, &clock).await;
        running.clusters().create_runtime("inside").unwrap();
        let kubeconfig = running.clusters().kubeconfig("inside").unwrap();
        provisioner.add(&RUNTIME.to_string(), "ga-1", &kubeconfig);
        let all = Self {
            running,
            provisioner,
            trials: Trials::on(Sort::Sqlite),
            made: AtomicU32::new(0),
            _folder: folder,
        };
        all.tell("aws", "add-key", &json!({ "key": AWS_KEY }));
        let subscription = json!({
            "subscription": SUBSCRIPTION, "tenant": "landscape", "client": "client-of-azure-dirty-1",
            "secret": "secret-of-azure-dirty-1",
        });
        all.tell("azure", "add-subscription", &subscription);
        all
    }

    fn tell(&self, system: &str, order: &str, with: &Value) {
        self.running.landscape.order(system, order, with).unwrap();
    }

    /// Ends all trouble; what was not met.
    pub(crate) fn calm(&self) -> Vec<Rule> {
        let troubles = self.running.landscape.troubles();
        let unmet = troubles.active();
        troubles.clear(None).unwrap();
        unmet
    }

    /// What runs should have removed: Shoots of nobody that are not on their way out, and the account in which nothing was left.
    pub(crate) fn left(&self) -> Vec<String> {
        let server = self.running.clusters().server();
        let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
        let shoots = server.list("garden", "shoots.core.gardener.cloud").into_iter();
        let shoots = shoots.filter(|shoot| {
            shoot["metadata"]["deletionTimestamp"].is_null() && name(shoot).starts_with("nobodys-")
        });
        let accounts = server.list("garden", "secretbindings.core.gardener.cloud").into_iter();
        let accounts = accounts.filter(|account| {
            account["metadata"]["labels"]["dirty"] == "true" && name(account) == "gcp-dirty-1"
        });
        shoots.chain(accounts).map(|object| name(&object)).collect()
    }

    /// One run, whose calls meet this trouble.
    pub(crate) async fn run(&self, job: &'static str, rules: Vec<Rule>) -> EndedRun {
        let number = self.made.fetch_add(1, Ordering::SeqCst) + 1;
        let trial = Trial { jobs: self, job, number, rules };
        let tried = Box::pin(try_out(&trial, &self.trials, None)).await;
        let data = serde_json::from_value(tried.end.data.clone()).unwrap();
        let snapshot = &tried.snapshot;
        let took = snapshot.ended_at.unwrap().duration_since(snapshot.created_at).unsigned_abs();
        EndedRun { state: tried.end.state, took, tried, data, number }
    }
}

impl EndedRun {
    /// The outcome of one of its candidates.
    pub(crate) fn outcome(&self, item: &str) -> Option<Outcome> {
        let item = item.replace('#', &self.number.to_string());
        self.data.report.details.iter().find(|it| it.item == item).map(|it| it.outcome)
    }
}

fn settings() -> Settings {
    let (older_than, settled) = (Duration::from_millis(1), Duration::from_millis(1));
    let environments =
        EnvironmentSettings { allowed: true, older_than, ..EnvironmentSettings::default() };
    Settings { environments, settled, ..Settings::default() }
}

impl Trial<'_> {
    /// The candidates of the run.
    async fn prepare(&self, env: &jobs::Env, clock: &Clock) {
        let number = self.number;
        match self.job {
            "environment-cleanup" => {
                create(env, &format!("nobodys-{number}"), json!({})).await;
                let known = json!({RUNTIME_ANNOTATION: RUNTIME.to_string()});
                create(env, &format!("known-{number}"), known).await;
            }
            "subaccount-cleanup" => {
                // Nothing works on its operations: their lane comes behind that of the trial.
                let subaccount = format!("xsa-{number}");
                order(&env.broker, &format!("deleted-{number}"), AWS, &subaccount).await;
                for event in ["create-subaccount", "delete-subaccount"] {
                    self.jobs.tell("cis", event, &json!({ "id": subaccount }));
                }
            }
            "subscription-cleanup" => self.dirty(env).await,
            "drift" => {
                let details = json!({"sm_cluster_id": Uuid::from_u128(8)});
                let change = json!({"runtime_id": RUNTIME, "details": details});
                let id = format!("inside-{number}");
                let row = made_by(&environment::days_ago(env, clock, 2), &id, change).await;
                let known = json!({RUNTIME_ANNOTATION: RUNTIME.to_string()});
                create(env, &row.shoot_name, known).await;
            }
            "binding-cleanup" => {
                let (id, change) = (format!("bound-{number}"), json!({"runtime_id": RUNTIME}));
                made_by(&environment::days_ago(env, clock, 1), &id, change).await;
                expire(&env.broker.parts().store, clock, &id, RUNTIME).await;
            }
            _ => {}
        }
    }

    /// The accounts are dirty, and something is left in those of Amazon and Azure.
    async fn dirty(&self, env: &jobs::Env) {
        let accounts = env.gardener.cluster().objects::<Value>(ACCOUNTS, Some("garden-kyma"));
        for account in ["aws-dirty-1", "azure-dirty-1", "gcp-dirty-1"] {
            let dirty = json!({"metadata": {"labels": {"dirty": "true", "tenantName": "ga-9"}}});
            accounts.merge(account, &dirty).await.unwrap();
        }
        let id = format!("vol-{}", self.number);
        let volume = json!({"key": AWS_KEY, "id": id, "region": "cn-north-1", "in_use": false});
        self.jobs.tell("aws", "add-volume", &volume);
        let group = format!("left-{}", self.number);
        let group = json!({"subscription": SUBSCRIPTION, "group": group, "tags": {}});
        self.jobs.tell("azure", "add-group", &group);
    }
}

async fn create(env: &jobs::Env, name: &str, annotations: Value) {
    let shoot: Shoot = serde_json::from_value(shoot(name, &annotations)).unwrap();
    env.gardener.create(&shoot).await.unwrap();
}

impl Scenario for Trial<'_> {
    type Operation = JobRun;

    async fn fresh(&self, clock: &Clock) -> Setting<JobRun> {
        let (store, operations) = self.jobs.trials.fill(clock).await.open().await;
        let running = &self.jobs.running;
        let outside = Outside { running, provisioner: &self.jobs.provisioner.url };
        let env = Arc::new(outside.env(clock, &store, &operations, settings()).await);
        self.prepare(&env, clock).await;
        // The landscape runs by the clock of the machine, and Shoots are as old as it says.
        clock.advance_to(Clock::running().now() + Duration::from_secs(1));
        for rule in &self.rules {
            running.landscape.troubles().add(rule.clone()).unwrap();
        }
        let job = self.job.to_owned();
        Setting {
            plan: jobs::plan(),
            env,
            instance: format!("job/{job}"),
            input: Input { job, dry_run: false, requested_by: None },
            data: Data::default(),
            world: Box::new(|| Box::pin(std::future::ready(Value::Null))),
        }
    }
}
