//! A provisioner that works and answers over HTTP, as its clients know it; every call of the broker is noted.

use std::{
    collections::BTreeMap,
    future::Future,
    num::NonZeroUsize,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use ::provisioner::{
    Parts, Provisioner,
    chores::shoot_signals,
    limits::Limits,
    operations::{Env, OWNER, StepSettings, deprovisioning, provisioning},
    shoots::{AuditTenants, Rules},
};
use api::{
    Trusted, Verifier,
    graphql::QueryLimits,
    health::Readiness,
    router::{ProvisionerParts, provisioner},
};
use axum::{
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use base::Clock;
use clients::{
    Component, Gate, Grant, Http, Limits as Calls, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Clusters},
    releases::Releases,
};
use engine::{Engine, Planted};
use secrecy::SecretString;
use simulators::testing::{MACHINE, Running};
use store::{EngineStore, ProvisionerStore, Sealer, Set, engine::Time, testing::TestDatabase};
use tokio::{net::TcpListener, task::JoinHandle};
use url::Url;

/// The project of the simulated garden.
pub(crate) const PROJECT: &str = "kyma";

/// The steps of the broker that have called.
pub(crate) type Callers = Arc<Mutex<Vec<String>>>;

/// See the module.
pub(crate) struct Service {
    pub(crate) url: Url,
    pub(crate) callers: Callers,
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
        let plain = EngineStore::new(opened, sealer.clone(), Time::Database, Planted::Nothing);
        let store = ProvisionerStore::new(plain.clone(), sealer, clock.clone());
        let storage = plain.with_changes(store.changes());
        let env = Arc::new(env(running, store.clone(), clock).await);
        let settings =
            engine::Settings { pace: 1_000.0, workers: 20, ..engine::Settings::default() };
        let limits = Limits::default();
        let engine = Engine::builder(Arc::new(storage), clock.clone(), settings)
            .serve(provisioning::plan(&limits), env.clone())
            .unwrap()
            .serve(provisioning::plan_no_install(&limits), env.clone())
            .unwrap()
            .serve(deprovisioning::plan(&limits), env.clone())
            .unwrap()
            .serve(deprovisioning::plan_no_install(&limits), env.clone())
            .unwrap()
            .start();
        let signals = tokio::spawn(shoot_signals::follow(env.gardener.clone(), engine.clone()));
        let parts = Parts {
            store,
            engine: engine.clone(),
            env,
            defaults: ::provisioner::checking::Defaults::default(),
            clock: clock.clone(),
        };
        let callers = Callers::default();
        let routes = routes(running, Provisioner::new(parts), clock, callers.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/graphql", listener.local_addr().unwrap()).parse().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { url, callers, engine, tasks: vec![signals, serving], _database: database }
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

fn routes(
    running: &Running,
    service: Provisioner,
    clock: &Clock,
    callers: Callers,
) -> axum::Router {
    let trusted =
        Trusted { issuer: running.url.clone(), audiences: vec!["kcp".into()], keys: None };
    let verifier = Verifier::new(vec![trusted], clock.clone()).unwrap();
    provisioner(ProvisionerParts {
        provisioner: Arc::new(service),
        readiness: Arc::new(Always),
        verifier: Arc::new(verifier),
        limits: QueryLimits::DEFAULT,
    })
    .layer(from_fn_with_state(callers, note))
}

async fn note(State(callers): State<Callers>, request: Request, next: Next) -> Response {
    let step = request.headers().get("x-kcp-step").and_then(|step| step.to_str().ok());
    callers.lock().unwrap().extend(step.map(str::to_owned));
    next.run(request).await
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
pub(crate) fn director(running: &Running, clock: &Clock) -> Director {
    let gate = Gate::new(Component::DIRECTOR, CALLS, clock.clone());
    let http = Http::through(gate, at(running, "/director/graphql")).unwrap();
    Director::new(http.with_token(tokens(running, "runtime:read runtime:write", clock)))
}

/// The garden of the landscape.
pub(crate) async fn gardener(running: &Running, clock: &Clock, owner: &str) -> Gardener {
    let kubeconfig = SecretString::from(running.clusters().garden_kubeconfig());
    let gate = Gate::new(Component::GARDENER, CALLS, clock.clone());
    Gardener::new(Cluster::connect(gate, &kubeconfig).await.unwrap(), PROJECT, owner)
}

/// Clients of the runtimes.
pub(crate) fn clusters(clock: &Clock) -> Clusters {
    Clusters::new(Component::RUNTIME, CALLS, clock.clone(), NonZeroUsize::new(100).unwrap())
}

/// Where releases of Kyma are.
pub(crate) fn releases(running: &Running, clock: &Clock) -> Http {
    let gate = Gate::new(Component::RELEASES, CALLS, clock.clone());
    Http::through(gate, at(running, "/kyma-releases")).unwrap()
}

async fn env(running: &Running, store: ProvisionerStore, clock: &Clock) -> Env {
    Env {
        gardener: gardener(running, clock, OWNER).await,
        director: director(running, clock),
        clusters: clusters(clock),
        releases: Releases::new(releases(running, clock), releases(running, clock)),
        store,
        rules: Rules { project: PROJECT.into(), ..Rules::default() },
        audit_tenants: AuditTenants::default(),
        settings: StepSettings::default(),
    }
}
