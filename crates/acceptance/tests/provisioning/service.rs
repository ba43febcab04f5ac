//! A provisioner that works and answers over HTTP, as its clients know it. Calls of it stand in the landscape's ledger and
//! meet its trouble, as if it were one of the simulated systems.

use std::{
    collections::BTreeMap, future::Future, num::NonZeroUsize, pin::Pin, sync::Arc, time::Duration,
};

use ::provisioner::{
    Parts, Provisioner,
    chores::shoot_signals,
    limits::StageLimits,
    operations::{
        Env, OWNER, StepSettings, deprovisioning, hibernation, provisioning, reconnection, upgrade,
        upgrade_shoot,
    },
    shoots::{AuditTenants, Rules},
};
use api::{
    TrustedIssuer, Verifier,
    graphql::QueryLimits,
    health::Readiness,
    router::{ProvisionerParts, provisioner},
};
use base::Clock;
use clients::{
    CallLimits as Calls, Component, Gate, Grant, Http, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Clusters},
    releases::Releases,
};
use engine::{Engine, PlantedBug};
use secrecy::SecretString;
use simulators::{
    testing::{MACHINE, Running},
    trouble::{
        around,
        wire::{Line, Wires},
    },
};
use store::{EngineStore, ProvisionerStore, Sealer, Set, engine::Time, testing::TestDatabase};
use tokio::{net::TcpListener, task::JoinHandle};
use url::Url;

/// The project of the simulated garden.
pub(crate) const PROJECT: &str = "kyma";

/// Its name in the ledger.
pub(crate) const SYSTEM: &str = "provisioner";

pub(crate) struct Service {
    pub(crate) url: Url,
    pub(crate) store: ProvisionerStore,
    engine: Engine<EngineStore>,
    tasks: Vec<JoinHandle<()>>,
    _database: TestDatabase,
}

impl Service {
    pub(crate) async fn start(running: &Running, clock: &Clock) -> Self {
        let database = TestDatabase::sqlite();
        let opened = database.database().await;
        for set in [Set::Engine, Set::Provisioner] {
            opened.migrate(set).await.unwrap();
        }
        let sealer = Sealer::generate();
        let plain = EngineStore::new(opened, sealer, Time::Database, PlantedBug::Nothing);
        let store = ProvisionerStore::new(plain, clock.clone());
        let storage = store.engine().clone();
        let env = Arc::new(env(running, store.clone(), clock).await);
        let settings =
            engine::Settings { pace: 1_000.0, workers: 20, ..engine::Settings::default() };
        let limits = StageLimits::default();
        let engine = Engine::builder(Arc::new(storage), clock.clone(), settings)
            .serve(provisioning::plan(&limits), env.clone())
            .unwrap()
            .serve(provisioning::plan_no_install(&limits), env.clone())
            .unwrap()
            .serve(upgrade::plan(&limits), env.clone())
            .unwrap()
            .serve(upgrade_shoot::plan(&limits), env.clone())
            .unwrap()
            .serve(hibernation::plan(&limits), env.clone())
            .unwrap()
            .serve(reconnection::plan(&limits), env.clone())
            .unwrap()
            .serve(deprovisioning::plan(&limits), env.clone())
            .unwrap()
            .serve(deprovisioning::plan_no_install(&limits), env.clone())
            .unwrap()
            .start();
        let signals = tokio::spawn(shoot_signals::follow(env.gardener.clone(), engine.clone()));
        let rows = store.clone();
        let parts = Parts {
            store,
            engine: engine.clone(),
            env,
            defaults: ::provisioner::checking::Defaults::default(),
            limits,
            clock: clock.clone(),
        };
        let routes = routes(running, Provisioner::new(parts), clock);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap()).parse().unwrap();
        let routes = routes.into_make_service_with_connect_info::<Line>();
        let wires = Wires::new(listener);
        let serving = tokio::spawn(async move { axum::serve(wires, routes).await.unwrap() });
        Self { url, store: rows, engine, tasks: vec![signals, serving], _database: database }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        self.engine.kill();
    }
}

fn routes(running: &Running, service: Provisioner, clock: &Clock) -> axum::Router {
    let trusted = TrustedIssuer {
        issuer: running.url.clone(),
        audiences: Some(vec!["kcp".into()]),
        tenant_claim: "tenant".into(),
        any_tenant: false,
        groups: BTreeMap::new(),
        keys: None,
        plaintext: base::PlaintextHosts::default(),
    };
    let verifier = Verifier::new(vec![trusted], clock.clone()).unwrap();
    let routes = provisioner(ProvisionerParts {
        provisioner: service,
        readiness: Arc::new(Always),
        verifier: Arc::new(verifier),
        limits: QueryLimits::DEFAULT,
    });
    let (ledger, troubles) = (running.landscape.ledger(), running.landscape.troubles());
    around(routes, SYSTEM, ledger.clone(), troubles.clone(), clock.clone())
}

struct Always;

impl Readiness for Always {
    fn parts(&self) -> Pin<Box<dyn Future<Output = BTreeMap<&'static str, bool>> + Send + '_>> {
        Box::pin(std::future::ready(BTreeMap::new()))
    }
}

/// The way to a system of the landscape, with our token where it is asked for.
pub(crate) fn at(running: &Running, path: &str) -> Url {
    format!("{}{path}", running.url).parse().unwrap()
}

/// Tokens with these scopes.
pub(crate) fn tokens(running: &Running, scope: &str, clock: &Clock) -> Arc<TokenSource> {
    let grant = Grant::ClientCredentials {
        id: MACHINE.0.into(),
        secret: MACHINE.1.to_owned().into(),
        scope: scope.into(),
    };
    TokenSource::new(at(running, "/oauth2/token"), grant, clock.clone()).unwrap()
}

/// Calls are given up before a test is.
pub(crate) const CALLS: Calls = Calls { call: Duration::from_secs(20), ..Calls::CLUSTER };

/// The Director of the landscape.
pub(crate) fn director(running: &Running, clock: &Clock, calls: Calls) -> Director {
    let gate = Gate::new(Component::DIRECTOR, calls, clock.clone());
    let http = Http::through(gate, at(running, "/director/graphql")).unwrap();
    Director::new(http.with_token(tokens(running, "runtime:read runtime:write", clock)))
}

/// The garden of the landscape.
pub(crate) async fn gardener(
    running: &Running,
    clock: &Clock,
    calls: Calls,
    owner: &str,
) -> Gardener {
    let kubeconfig = SecretString::from(running.clusters().garden_kubeconfig());
    let gate = Gate::new(Component::GARDENER, calls, clock.clone());
    Gardener::new(Cluster::connect(gate, &kubeconfig).await.unwrap(), PROJECT, owner)
}

/// Clients of the runtimes.
pub(crate) fn clusters(clock: &Clock, calls: Calls) -> Clusters {
    Clusters::new(Component::RUNTIME, calls, clock.clone(), NonZeroUsize::new(100).unwrap())
}

/// Where releases of Kyma are.
pub(crate) fn releases(running: &Running, clock: &Clock, calls: Calls) -> Http {
    let gate = Gate::new(Component::RELEASES, calls, clock.clone());
    Http::through(gate, at(running, "/kyma-releases")).unwrap()
}

async fn env(running: &Running, store: ProvisionerStore, clock: &Clock) -> Env {
    Env {
        gardener: gardener(running, clock, CALLS, OWNER).await,
        director: director(running, clock, CALLS),
        clusters: clusters(clock, CALLS),
        releases: Releases::new(releases(running, clock, CALLS), releases(running, clock, CALLS)),
        store,
        rules: Rules { project: PROJECT.into(), ..Rules::default() },
        audit_tenants: AuditTenants::default(),
        settings: StepSettings::default(),
    }
}
