//! A landscape, a database and a provisioner between them.
//!
//! What a reader would get wrong: the landscape lives on the running clock and is as fast as can be, so
//! that what it does takes real but little time. Steps poll a thousand times faster than written.

mod landscape;
mod orders;

use std::{sync::Arc, time::Duration};

use base::Clock;
use engine::{Engine, PlantedBug, Storage};
use provisioner::{
    Caller, Parts, Provisioner,
    chores::shoot_signals,
    limits::StageLimits,
    operations::{
        Env, StepSettings, deprovisioning, hibernation, provisioning, reconnection, upgrade,
        upgrade_shoot,
    },
    requests,
    shoots::AuditTenants,
    status::{OperationState, OperationStatus},
};
use serde_json::Value;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};
use store::{EngineStore, ProvisionerStore, Sealer, Set, engine::Time, testing::TestDatabase};
use tokio::task::JoinHandle;

pub(crate) use landscape::Landscape;
pub(crate) use orders::{aws, caller, issuer, kyma, with_kyma};

/// A provisioner that works.
pub(crate) struct World {
    pub(crate) landscape: Landscape,
    pub(crate) provisioner: Provisioner,
    pub(crate) engine: Engine<EngineStore>,
    database: TestDatabase,
    sealer: Sealer,
    limits: StageLimits,
    chores: Vec<JoinHandle<()>>,
}

impl World {
    pub(crate) async fn sqlite() -> Self {
        Self::on(TestDatabase::sqlite(), StageLimits::default()).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(TestDatabase::postgres().await, StageLimits::default()).await
    }

    pub(crate) async fn on(database: TestDatabase, limits: StageLimits) -> Self {
        Self::inside(Landscape::start().await, database, limits).await
    }

    /// With other settings of steps, and an audit log.
    pub(crate) async fn with_settings(settings: StepSettings, audit_tenants: AuditTenants) -> Self {
        let landscape = Landscape { settings, audit_tenants, ..Landscape::start().await };
        Self::inside(landscape, TestDatabase::sqlite(), StageLimits::default()).await
    }

    /// With a garden that plays this Gardener.
    pub(crate) async fn playing(gardener: &str) -> Self {
        let landscape = Landscape::playing(gardener.parse().unwrap()).await;
        Self::inside(landscape, TestDatabase::sqlite(), StageLimits::default()).await
    }

    async fn inside(landscape: Landscape, database: TestDatabase, limits: StageLimits) -> Self {
        let opened = database.database().await;
        for set in [Set::Engine, Set::Provisioner] {
            opened.migrate(set).await.unwrap();
        }
        opened.close().await;
        let sealer = Sealer::generate();
        let (provisioner, chore) = replica(&landscape, &database, &sealer, &limits).await;
        let engine = provisioner.parts().engine.clone();
        let chores = vec![chore];
        Self { landscape, provisioner, engine, database, sealer, limits, chores }
    }

    /// One more replica on the same database.
    pub(crate) async fn another(&mut self) -> Provisioner {
        let (provisioner, chore) =
            replica(&self.landscape, &self.database, &self.sealer, &self.limits).await;
        self.chores.push(chore);
        provisioner
    }

    pub(crate) fn env(&self) -> &Env {
        &self.provisioner.parts().env
    }

    /// Follows an operation to its end.
    pub(crate) async fn end_of(&self, operation: &str) -> OperationStatus {
        self.end_as(&caller(), operation).await
    }

    /// The same for another caller.
    async fn end_as(&self, caller: &Caller, operation: &str) -> OperationStatus {
        let mut events = self.engine.events();
        let waiting = async {
            loop {
                let status = self.provisioner.operation_status(caller, operation).await.unwrap();
                if status.state != OperationState::InProgress {
                    return status;
                }
                let soon = self.landscape.clock.sleep(Duration::from_millis(200));
                tokio::select! { _ = events.recv() => {}, () = soon => {} }
            }
        };
        // Far more than the sum of the back-offs that the faults cause: it ends a test that hangs.
        let ended = tokio::time::timeout(Duration::from_secs(300), waiting).await;
        match ended {
            Ok(status) => status,
            Err(_) => {
                let id = operation.parse().unwrap();
                let why = self.engine.explain(id).await.unwrap();
                panic!("the operation does not end: {why:?}")
            }
        }
    }

    /// Follows an operation to its good end.
    pub(crate) async fn success_of(&self, operation: &str) -> OperationStatus {
        self.success_as(&caller(), operation).await
    }

    /// The same for another caller.
    pub(crate) async fn success_as(&self, caller: &Caller, operation: &str) -> OperationStatus {
        let status = self.end_as(caller, operation).await;
        if status.state != OperationState::Succeeded {
            let id = operation.parse().unwrap();
            let journal = self.engine.storage().journal(id).await.unwrap();
            panic!("{status:?}\n{journal:#?}");
        }
        status
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, so: impl AsyncFn() -> bool) {
        for _ in 0..4_000 {
            if so().await {
                return;
            }
            self.landscape.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come about");
    }

    /// A runtime that is there.
    pub(crate) async fn provisioned(&self, request: requests::Provision) -> OperationStatus {
        let begun = self.provisioner.provision(&caller(), request).await.unwrap();
        self.success_of(&begun.id).await
    }

    /// Gives an order to a simulated system.
    pub(crate) fn order(&self, system: &str, order: &str, with: &Value) {
        self.landscape.running.landscape.order(system, order, with).unwrap();
    }

    /// The next calls of a system meet trouble.
    pub(crate) fn trouble(&self, system: &str, calls: u64, trouble: Kind) {
        let rule = Rule { system: Some(system.into()), ..Rule::next(calls, trouble) };
        self.landscape.running.landscape.troubles().add(rule).unwrap();
    }

    /// Calls of a system fail with this probability, in several ways.
    pub(crate) fn unrest(&self, system: &str, probability: f64) {
        let ways = [
            Kind::Status { status: 500, body: None },
            Kind::Reset { when: Cut::default() },
            Kind::LostAnswer { status: None },
        ];
        for trouble in ways {
            let rule = Rule {
                system: Some(system.into()),
                probability: Some(probability / 3.0),
                ..Rule::next(1_000_000, trouble)
            };
            self.landscape.running.landscape.troubles().add(rule).unwrap();
        }
    }

    /// Ends all trouble.
    pub(crate) fn calm(&self) {
        self.landscape.running.landscape.troubles().clear(None).unwrap();
    }

    /// How many changes of objects that begin so a system has made with a method.
    pub(crate) fn applied(&self, system: &str, method: &str, object: &str) -> usize {
        let all = self.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
        all.iter()
            .filter(|one| one.phase == Phase::Applied)
            .filter(|one| one.about.system == system && one.about.method == method)
            .filter(|one| one.object.as_deref().is_some_and(|what| what.contains(object)))
            .count()
    }

    /// How many calls a system has had.
    pub(crate) fn calls(&self, system: &str) -> usize {
        let all = self.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
        all.iter().filter(|one| one.about.system == system).count()
    }

    /// The journal of an operation.
    pub(crate) async fn engine_journal(&self, operation: &str) -> Vec<engine::storage::Entry> {
        self.engine.storage().journal(operation.parse().unwrap()).await.unwrap()
    }

    /// The same provisioner, for whom so much time has passed.
    pub(crate) fn later(&self, time: Duration) -> Provisioner {
        let parts = self.provisioner.parts();
        Provisioner::new(Parts {
            store: parts.store.clone(),
            engine: parts.engine.clone(),
            env: parts.env.clone(),
            defaults: parts.defaults.clone(),
            limits: parts.limits,
            clock: Clock::held_at(parts.clock.now() + time),
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for chore in &self.chores {
            chore.abort();
        }
        self.engine.kill();
    }
}

async fn replica(
    landscape: &Landscape,
    database: &TestDatabase,
    sealer: &Sealer,
    limits: &StageLimits,
) -> (Provisioner, JoinHandle<()>) {
    let clock = landscape.clock.clone();
    let opened = database.database().await;
    let plain = EngineStore::new(opened, sealer.clone(), Time::Database, PlantedBug::Nothing);
    let store = ProvisionerStore::new(plain, clock.clone());
    let storage = store.engine().clone();
    let env = Arc::new(landscape.env(store.clone(), &clock).await);
    let settings = engine::Settings {
        pace: 1_000.0,
        workers: 40,
        lease: Duration::from_secs(2),
        ..engine::Settings::default()
    };
    let engine = Engine::builder(Arc::new(storage), clock.clone(), settings)
        .serve(provisioning::plan(limits), env.clone())
        .unwrap()
        .serve(provisioning::plan_no_install(limits), env.clone())
        .unwrap()
        .serve(upgrade::plan(limits), env.clone())
        .unwrap()
        .serve(upgrade_shoot::plan(limits), env.clone())
        .unwrap()
        .serve(deprovisioning::plan(limits), env.clone())
        .unwrap()
        .serve(deprovisioning::plan_no_install(limits), env.clone())
        .unwrap()
        .serve(hibernation::plan(limits), env.clone())
        .unwrap()
        .serve(reconnection::plan(limits), env.clone())
        .unwrap()
        .start();
    let chore = tokio::spawn(shoot_signals::follow(env.gardener.clone(), engine.clone()));
    let defaults = provisioner::checking::Defaults::default();
    let limits = *limits;
    (Provisioner::new(Parts { store, engine, env, defaults, limits, clock }), chore)
}
