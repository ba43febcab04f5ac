//! What operators' routes answer while the database or the garden is away: never an empty list.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use api::{
    RequestLimits,
    router::{answers, history, jobs as job_routes, leftovers, shielded, watching},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use base::Clock;
use broker::{
    answers::Answers,
    bindings::{Bindings, RuntimeReach},
    catalog::{Catalog, Offer},
    instances::{Broker, Parts, Settings, SuspensionPlans},
    jobs::{self, Aws, Azure, Env, Jobs},
    operations::view::Operations,
};
use clients::{
    CallLimits, Component, Gate,
    aws::{self, Market},
    azure::{self, Cloud},
    gardener::{BindingKind, Gardener},
    kubernetes::{Cluster, Clusters},
    provisioner::{self, Provisioner},
};
use engine::{Engine, PlantedBug};
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::{
    pace::Speed,
    testing::{Options, Running},
};
use store::{BrokerStore, Database, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};
use support::tokens::KeyServer;
use tower::ServiceExt;
use url::Url;

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:9";
/// A garden that is away.
const NO_GARDEN: &str = "
apiVersion: v1
kind: Config
current-context: garden
contexts: [{name: garden, context: {cluster: garden, user: garden}}]
clusters: [{name: garden, cluster: {server: 'http://127.0.0.1:9'}}]
users: [{name: garden, user: {token: garden}}]";

/// Each route, and its status while everything is there.
const ROUTES: [(&str, u16); 16] = [
    ("/events", 200),
    ("/archive", 200),
    ("/archive/i-1", 404),
    ("/leftovers", 200),
    ("/leftovers/i-1", 404),
    ("/may-exist", 200),
    ("/jobs", 200),
    ("/jobs/drift", 200),
    ("/jobs/drift/details", 404),
    ("/drift", 200),
    ("/answers/stuck", 200),
    ("/answers/steps", 200),
    ("/answers/success", 200),
    ("/answers/pool", 200),
    ("/answers/capacity", 200),
    ("/answers/status", 200),
];

struct Service {
    routes: Router,
    keys: KeyServer,
    database: Database,
    engine: Engine<EngineStore>,
    _test: TestDatabase,
}

/// Status, the value of `retry-after`, and body.
type Answer = (u16, Option<String>, String);

impl Service {
    /// A broker with this garden and without any instance.
    async fn start(kubeconfig: &str) -> Self {
        let (clock, test) = (Clock::running(), TestDatabase::sqlite());
        let database = test.database().await;
        for set in [Set::Engine, Set::Broker] {
            database.migrate(set).await.unwrap();
        }
        let (sealer, time) = (Sealer::generate(), Time::Database);
        let storage = EngineStore::new(database.clone(), sealer, time, PlantedBug::Nothing);
        let env = Arc::new(env(&clock, &storage, kubeconfig).await);
        let builder = Engine::builder(Arc::new(storage), clock, engine::Settings::default());
        let engine = builder.serve(jobs::plan(), env.clone()).unwrap().start();
        let operations = Operations::new(engine.clone());
        let keys = KeyServer::start().await;
        let verifier = Arc::new(keys.verifier());
        let all = Jobs::new(env.clone());
        let asked = Answers::new(operations.clone(), all.clone(), &env);
        let routes = watching(operations.clone(), verifier.clone())
            .merge(history(operations, env.broker.clone(), verifier.clone()))
            .merge(leftovers(env.broker.clone(), verifier.clone()))
            .merge(job_routes(all, verifier.clone()))
            .merge(answers(asked, verifier));
        let routes = shielded(routes, RequestLimits::DEFAULT);
        Self { routes, keys, database, engine, _test: test }
    }

    async fn get(&self, path: &str) -> Answer {
        let token = self.keys.token(&["operations:read", "runtimes:read", "tenants:any"]);
        let request = Request::builder()
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap();
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let retry_after = response.headers().get(header::RETRY_AFTER);
        let retry_after = retry_after.map(|it| it.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, retry_after, String::from_utf8(body.to_vec()).unwrap())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.engine.kill();
    }
}

/// The clients of jobs: all but the garden lead nowhere.
async fn env(clock: &Clock, storage: &EngineStore, kubeconfig: &str) -> Env {
    let limits = CallLimits::CLUSTER;
    let gate = |component| Gate::new(component, limits, clock.clone());
    let at = |path: &str| -> Url { format!("{NOWHERE}{path}").parse().unwrap() };
    let kubeconfig: SecretString = kubeconfig.to_owned().into();
    let garden = Cluster::connect(gate(Component::GARDENER), &kubeconfig).await.unwrap();
    let store = BrokerStore::new(storage.clone(), clock.clone());
    let broker = Broker::new(Parts {
        operations: store.engine().clone(),
        store,
        shapes: Vec::new(),
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
    let address = provisioner::Settings { url: at("/graphql"), access: None };
    let tokens = gate(Component::ISSUER);
    let provisioner = Provisioner::through(gate(provisioner::COMPONENT), tokens, &address).unwrap();
    let most = NonZeroUsize::new(10).unwrap();
    let clusters = Clusters::new(Component::RUNTIME, limits, clock.clone(), most);
    let reach = RuntimeReach { provisioner: provisioner.clone(), clusters };
    Env {
        bindings: Bindings::new(broker.clone(), reach, Duration::from_secs(5)),
        broker,
        gardener: Gardener::new(garden, "kyma", "kcp-test"),
        account_bindings: BindingKind::Secret,
        provisioner,
        events: None,
        aws: Aws { endpoint: None, market: Market::Chinese, gate: gate(aws::COMPONENT) },
        azure: Azure {
            cloud: Cloud { authority: at("/azure"), management: at("/azure") },
            gate: gate(azure::COMPONENT),
            tokens: gate(Component::ISSUER),
        },
        settings: jobs::Settings::default(),
    }
}

/// Says that the service is not available, in the form of all failures.
fn is_unavailable((status, retry_after, body): &Answer) -> bool {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    (*status, retry_after.as_deref()) == (503, Some("5"))
        && body["error"] == "unavailable"
        && body["description"] == "the service is not available right now"
        && body["correlation_id"].is_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_away_is_said_at_every_route_of_operators() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
    let running = Running::with(folder.path(), Clock::running(), 1, options).await;
    let service = Service::start(&running.clusters().garden_kubeconfig()).await;
    for (path, expected) in ROUTES {
        let (status, _, body) = service.get(path).await;
        assert_eq!(status, expected, "{path}: {body}");
    }

    // It would go on trying.
    service.engine.kill();
    service.database.close().await;

    for (path, _) in ROUTES {
        let answer = service.get(path).await;
        match path {
            // Known clients read text.
            "/events" => {
                let text = "while listing events: database unavailable";
                assert_eq!(answer, (503, Some("5".into()), text.into()));
            }
            // The garden alone knows.
            "/answers/pool" => assert_eq!(answer.0, 200, "{answer:?}"),
            _ => assert!(is_unavailable(&answer), "{path}: {answer:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garden_that_is_away_is_said_where_it_is_asked_and_takes_nothing_else_away() {
    let service = Service::start(NO_GARDEN).await;

    for (path, expected) in ROUTES {
        let answer = service.get(path).await;
        match path {
            "/answers/pool" | "/answers/capacity" => {
                assert!(is_unavailable(&answer), "{path}: {answer:?}");
            }
            _ => assert_eq!(answer.0, expected, "{path}: {answer:?}"),
        }
    }
    let status: Value = serde_json::from_str(&service.get("/answers/status").await.2).unwrap();
    assert_eq!(status["capacity"], json!([]));
    assert!(status["capacity_problem"].is_string(), "{status}");
    assert_eq!(status["stuck"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_query_for_events_is_said_as_text() {
    let service = Service::start(NO_GARDEN).await;

    let answer = service.get("/events?runtime_ids=x").await;

    let text = "while getting query parameters: runtime_ids: \"x\" is not a UUID";
    assert_eq!(answer, (400, None, text.into()));
}
