//! A broker on a database, and the hand that ends operations in place of an engine.

use std::{sync::Arc, time::Duration};

use base::{Clock, Failure};
use broker::{
    accounts::PooledAccounts,
    catalog::{Catalog, Defaults, Offer},
    instances::{
        AcceptedOrder, Broker, Caller, Deprovision, Error, LastOperation, Parts, Provision,
        Settings, SuspensionPlans, TrialNotice,
    },
};
use domain::OperationId;
use engine::{
    PlantedBug, Position, Retry, Shape, State, Storage,
    plan::{StageShape, StepShape},
    storage::{
        AfterCommit, Change, ClaimRequest, Commit, CommitResult, Entry, Outcome, Run, Snapshot,
    },
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    BrokerStore, EngineStore, Sealer, Set,
    engine::{Filter, Time},
    testing::TestDatabase,
};

pub(crate) const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
pub(crate) const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";
pub(crate) const AZURE: &str = "4deee563-e5ec-4731-b9b1-53b42d855f0c";
pub(crate) const FREE: &str = "b1a5764e-2ea1-4f95-94c0-2b4538b37b55";
pub(crate) const TRIAL: &str = "7d55d31d-35ae-4438-bf13-6ffdfa107d9f";

/// How often the hand tries to claim an operation.
const CLAIMS: usize = 1_000;

pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) store: BrokerStore,
    pub(crate) engine: EngineStore,
    pub(crate) clock: Clock,
    _database: TestDatabase,
}

/// The result of a step that is committed by hand.
pub(crate) struct StepReport {
    pub(crate) step: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) note: Option<&'static str>,
}

impl World {
    pub(crate) async fn sqlite() -> Self {
        Self::on(TestDatabase::sqlite(), None).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(TestDatabase::postgres().await, None).await
    }

    /// The same with other settings.
    pub(crate) fn with_suspended(&self, plans: &[&str]) -> Broker {
        let suspended = plans.iter().map(ToString::to_string).collect();
        let suspension = SuspensionPlans { suspended, ..SuspensionPlans::default() };
        let settings = Settings { suspension, ..self.broker.parts().settings.clone() };
        Broker::new(Parts { settings, ..self.parts() })
    }

    /// The same, with instances that can change to another plan where the catalog allows it.
    pub(crate) fn with_plan_changes(&self) -> Broker {
        let offer = Offer { plan_updateable: true, ..self.broker.parts().offer.clone() };
        Broker::new(Parts { offer, ..self.parts() })
    }

    /// The same, where instances of these plans are suspended.
    pub(crate) fn with_plan_changes_and_suspended(&self, plans: &[&str]) -> Broker {
        let offer = self.with_plan_changes().parts().offer.clone();
        let settings = self.with_suspended(plans).parts().settings.clone();
        Broker::new(Parts { offer, settings, ..self.parts() })
    }

    /// The same, with other defaults in the catalog.
    pub(crate) fn with_defaults(&self, adjust: impl FnOnce(&mut Defaults)) -> Broker {
        let catalog = Catalog::embedded().unwrap().adjusted(adjust).unwrap();
        Broker::new(Parts { catalog: Arc::new(catalog), ..self.parts() })
    }

    fn parts(&self) -> Parts {
        let parts = self.broker.parts();
        Parts {
            store: parts.store.clone(),
            operations: parts.operations.clone(),
            shapes: parts.shapes.clone(),
            catalog: parts.catalog.clone(),
            offer: parts.offer.clone(),
            accounts: None,
            settings: parts.settings.clone(),
            clock: parts.clock.clone(),
        }
    }

    /// A broker with these provider accounts.
    pub(crate) async fn paid_from(accounts: Arc<PooledAccounts>) -> Self {
        Self::on(TestDatabase::sqlite(), Some(accounts)).await
    }

    async fn on(test: TestDatabase, accounts: Option<Arc<PooledAccounts>>) -> Self {
        let clock = Clock::held_at(Timestamp::from_second(1_767_268_800).unwrap());
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sealer = Sealer::generate();
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, sealer, time, PlantedBug::Nothing);
        let store = BrokerStore::new(engine, clock.clone());
        let engine = store.engine().clone();
        let catalog = Arc::new(Catalog::embedded().unwrap());
        let plans = ["aws", "azure", "trial", "free", "own_cluster"].map(str::to_owned).to_vec();
        let broker = Broker::new(Parts {
            store: store.clone(),
            operations: engine.clone(),
            shapes: vec![shape("provision"), shape("deprovision")],
            catalog,
            offer: Offer { plans, ..Offer::default() },
            accounts,
            settings: Settings {
                legacy: None,
                suspension: SuspensionPlans::default(),
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: Some("https://stage.test".into()),
                trial_notice: Some(TrialNotice {
                    subaccounts: Some(vec!["sa-1".into()]),
                    documentation: "https://help.test/trial".into(),
                }),
            },
            clock: clock.clone(),
        });
        Self { broker, store, engine, clock, _database: test }
    }

    pub(crate) async fn order(&self, instance: &str) -> Result<AcceptedOrder, Error> {
        self.broker.provision(&Caller::default(), request(instance, AWS)).await
    }

    /// Orders, and gives the operation.
    pub(crate) async fn ordered(&self, instance: &str) -> OperationId {
        self.order(instance).await.unwrap().operation.unwrap()
    }

    /// Orders, and lets the order end well.
    pub(crate) async fn made(&self, instance: &str) -> OperationId {
        let operation = self.ordered(instance).await;
        self.end(&operation, State::Succeeded, vec![]).await;
        operation
    }

    pub(crate) async fn remove(&self, instance: &str) -> Result<OperationId, Error> {
        self.broker.deprovision(&Caller::default(), removal(instance)).await
    }

    pub(crate) async fn follow(
        &self,
        instance: &str,
        operation: Option<&OperationId>,
    ) -> Result<LastOperation, Error> {
        let named = operation.map(ToString::to_string);
        self.broker.last_operation(&Caller::default(), instance, named.as_deref()).await
    }

    pub(crate) async fn read(&self, operation: &OperationId) -> Snapshot {
        self.engine.read(operation.uuid()).await.unwrap().unwrap()
    }

    /// How many operations are stored.
    pub(crate) async fn operations(&self) -> usize {
        let filter = Filter { most: 1_000, ..Filter::default() };
        self.engine.list(&filter).await.unwrap().operations.len()
    }

    /// Ends an operation.
    pub(crate) async fn end(&self, operation: &OperationId, state: State, changes: Vec<Change>) {
        let now = self.clock.now();
        self.commit(operation, None, None, changes, AfterCommit::End, |position| {
            position.state = state;
            position.ended_at = Some(now);
        })
        .await;
    }

    /// Ends an operation well that has learnt something.
    pub(crate) async fn end_knowing(
        &self,
        operation: &OperationId,
        data: &Value,
        changes: Vec<Change>,
    ) {
        let now = self.clock.now();
        self.commit(operation, None, Some(data), changes, AfterCommit::End, |position| {
            position.state = State::Succeeded;
            position.ended_at = Some(now);
        })
        .await;
    }

    /// Ends an operation in this state that has learnt something.
    pub(crate) async fn end_with(&self, operation: &OperationId, state: State, data: &Value) {
        let now = self.clock.now();
        self.commit(operation, None, Some(data), vec![], AfterCommit::End, |position| {
            position.state = state;
            position.ended_at = Some(now);
        })
        .await;
    }

    /// Ends an operation that has left something undone.
    pub(crate) async fn end_incomplete(&self, operation: &OperationId, step: &str) {
        self.end_leaving(operation, &[step]).await;
    }

    /// Ends an operation that has left these undone.
    pub(crate) async fn end_leaving(&self, operation: &OperationId, steps: &[&str]) {
        let now = self.clock.now();
        let change = Change { topic: "instance".into(), body: json!({"deleted": true}) };
        self.commit(operation, None, None, vec![change], AfterCommit::End, |position| {
            position.state = State::Succeeded;
            position.ended_at = Some(now);
            position.incomplete = steps.iter().map(ToString::to_string).collect();
        })
        .await;
    }

    /// Fails an operation at the order for the cluster.
    pub(crate) async fn fail(&self, operation: &OperationId, message: &str) {
        let failure = Failure::new("provisioner", "refused", message);
        self.fail_at(operation, "Create_Runtime", failure).await;
    }

    /// Fails an operation at a step.
    pub(crate) async fn fail_at(&self, operation: &OperationId, step: &str, failure: Failure) {
        let now = self.clock.now();
        self.commit(operation, None, None, vec![], AfterCommit::End, |position| {
            position.state = State::Failed;
            position.ended_at = Some(now);
            position.step = Some(step.to_owned());
            position.failure = Some(failure);
        })
        .await;
    }

    /// Lets a step say something: it is done, or it waits for half a minute.
    pub(crate) async fn say(&self, operation: &OperationId, said: &StepReport) {
        self.say_until(operation, said, Duration::from_secs(30)).await;
    }

    /// The same for so long.
    pub(crate) async fn say_until(
        &self,
        operation: &OperationId,
        said: &StepReport,
        wait: Duration,
    ) {
        let now = self.clock.now();
        let then = AfterCommit::Sleep { until: now + wait, awaits: None };
        let run = Run {
            stage: "work".into(),
            step: said.step.into(),
            number: 1,
            began_at: now,
            ended_at: now,
            outcome: said.outcome,
            reason: said.note.map(str::to_owned),
            failure: None,
            next_at: None,
            repeats: None,
        };
        self.commit(operation, Some(run), None, vec![], then, |position| {
            position.state = State::InProgress;
            position.started_at = position.started_at.or(Some(now));
            position.stage = Some("work".into());
            position.step = Some(said.step.into());
            position.note = said.note.map(str::to_owned);
            let clock = position.clocks.entry(said.step.into()).or_default();
            clock.waiting_since = match said.outcome {
                Outcome::Wait => clock.waiting_since.or(Some(now)),
                _ => None,
            };
        })
        .await;
    }

    pub(crate) async fn journal(&self, operation: &OperationId) -> Vec<Entry> {
        self.engine.journal(operation.uuid()).await.unwrap()
    }

    async fn commit(
        &self,
        operation: &OperationId,
        run: Option<Run>,
        data: Option<&Value>,
        changes: Vec<Change>,
        then: AfterCommit,
        change: impl FnOnce(&mut Position),
    ) {
        let joined = self.engine.join("hand", Duration::from_secs(60)).await.unwrap();
        self.engine.reap().await.unwrap();
        let kinds = ["provision", "deprovision", "update", "upgradeKyma", "upgradeCluster"];
        let kinds = kinds.map(|kind| (kind.to_owned(), 1));
        let ask = ClaimRequest {
            replica: joined.replica,
            kinds: &kinds,
            room: 100,
            crowded: &[],
            after_lane: "",
        };
        let mut held = None;
        // A request that another future has begun may hold the row.
        for _ in 0..CLAIMS {
            let claimed = self.engine.claim(&ask).await.unwrap().operations;
            held = claimed.into_iter().find(|held| held.id == operation.uuid());
            if held.is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let mut held = held.unwrap();
        held.position.started_at = held.position.started_at.or(Some(self.clock.now()));
        change(&mut held.position);
        let commit = Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position: held.position,
            then,
            run,
            data: data.map(|data| data.to_string().into_bytes()),
            data_version: 1,
            changes,
        };
        let landed = self.engine.commit(joined.replica, &[commit]).await.unwrap();
        assert!(matches!(landed[0], CommitResult::Yes { .. }), "{landed:?}");
        self.engine.leave(joined.replica).await.unwrap();
    }
}

/// A plan of three steps.
fn shape(kind: &str) -> Arc<Shape> {
    let step = |name: &str| StepShape {
        name: name.to_owned(),
        retry: Retry::DEFAULT,
        weight: 1,
        label: None,
        conditions: Vec::new(),
        needs: None,
        leaves: None,
        calls: Vec::new(),
    };
    let steps = vec![step("Starting"), step("Create_Runtime"), step("Check_Runtime")];
    let stages = vec![StageShape { name: "work".into(), steps }];
    Arc::new(Shape {
        kind: kind.into(),
        limit: Duration::from_secs(86_400),
        stages,
        off: Vec::new(),
    })
}

/// A good order.
pub(crate) fn request(instance: &str, plan: &str) -> Provision {
    Provision {
        instance_id: instance.into(),
        region: Some("cf-eu10".into()),
        service_id: SERVICE.into(),
        plan_id: plan.into(),
        context: Some(context("ga-1")),
        parameters: Some(json!({"name": "dev"})),
        maintenance_version: None,
        accepts_incomplete: true,
    }
}

pub(crate) fn context(global_account: &str) -> Value {
    json!({
        "globalaccount_id": global_account,
        "subaccount_id": "sa-1",
        "user_id": "Jo@Example.test",
        "sm_operator_credentials": {
            "clientid": "c", "clientsecret": "hush", "sm_url": "https://sm.test",
            "url": "https://auth.test", "xsappname": "x",
        },
    })
}

/// The end of an instance.
pub(crate) fn removal(instance: &str) -> Deprovision {
    Deprovision {
        instance_id: instance.into(),
        service_id: SERVICE.into(),
        plan_id: AWS.into(),
        accepts_incomplete: true,
    }
}

/// A caller of one global account.
pub(crate) fn tenant(tenant: &str) -> Caller {
    Caller { tenant: Some(tenant.into()), ..Caller::default() }
}
