//! The routes around a provisioner, and how tests call them.
//!
//! What a reader would get wrong: nobody works on operations here, so they stay as they were accepted. One runtime is there
//! from the start; in documents and variables `"r"` stands for its id, and `"o"` for the operation that made it.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use api::{
    RequestLimits,
    graphql::QueryLimits,
    router::{ProvisionerParts, shielded},
};
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode, header, request::Builder},
};
use base::Clock;
use broker::operations::view::{AuditLog, Operations};
use clients::{
    CallLimits as Calls, Component, Gate, Grant, Http, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Clusters},
    releases::Releases,
};
use engine::{
    Engine, Operation, PlantedBug, RowChange as _, State, Storage,
    storage::{AfterCommit, Change, ClaimRequest, Commit, CommitResult},
};
use jsonwebtoken::{Algorithm, Header, encode};
use provisioner::{
    Parts, Provisioner,
    checking::Defaults,
    operations::{
        Env, OWNER, StepSettings,
        provisioning::{Provisioning, ProvisioningNoInstall},
        reconnection::Reconnection,
        upgrade::Upgrade,
        upgrade_shoot::UpgradeShoot,
    },
    shoots::{AuditTenants, Rules},
};
use secrecy::SecretString;
use serde_json::{Value, json};
use simulators::{
    ledger::Filter,
    pace::Speed,
    testing::{MACHINE, Options, Running, TENANTS},
    trouble::{Kind, Rule},
};
use store::{
    EngineStore, ProvisionerStore, Sealer, Set,
    engine::Time,
    provisioner::{Kubeconfig, RuntimeChange},
    testing::TestDatabase,
};
use tempfile::TempDir;
use tower::ServiceExt;
use url::Url;

use crate::support::{
    operations::Half,
    tokens::{AUDIENCE, KeyServer, NOW},
};

pub(crate) const READ: &str = "provisioner:read";
pub(crate) const WRITE: &str = "provisioner:write";
pub(crate) const KUBECONFIG: &str = "provisioner:kubeconfig";
pub(crate) const ANY: &str = "tenants:any";
pub(crate) const TENANT: &str = TENANTS[0];
/// Neither a runtime nor an operation has this id.
pub(crate) const UNKNOWN: &str = "5d1c0c1e-0000-4000-8000-000000000001";

/// A cluster that can be ordered; `NAME` and `MORE` stand for its name and for further fields.
pub(crate) const PROVISION: &str = r#"mutation { result: provisionRuntime(config: {
    runtimeInput: { name: "NAME" }
    clusterConfig: { gardenerConfig: { name: "NAME", provider: "gcp", targetSecret: "gcp-free-1",
        region: "europe-west3", machineType: "n2-standard-4", diskType: "pd-ssd", volumeSizeGB: 50,
        workerCidr: "10.250.0.0/16", autoScalerMin: 3, autoScalerMax: 10, MORE
        providerSpecificConfig: { gcpConfig: { zones: ["europe-west3-a"] } } } }
    }) { id runtimeID } }"#;

pub(crate) struct Service {
    pub(crate) provisioner: Provisioner,
    pub(crate) runtime: String,
    pub(crate) operation: String,
    running: Running,
    routes: Router,
    keys: KeyServer,
    pub(crate) audit: AuditLog,
    _database: TestDatabase,
    _folder: TempDir,
}

/// The response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    /// The data of an answer without errors.
    pub(crate) fn data(&self) -> Value {
        let body = self.json();
        assert_eq!(self.status, StatusCode::OK, "{body}");
        assert_eq!(body.get("errors"), None, "{body}");
        body["data"].clone()
    }

    /// The one error of an answer.
    pub(crate) fn error(&self) -> Value {
        let body = self.json();
        assert_eq!(body["errors"].as_array().unwrap().len(), 1, "{body}");
        body["errors"][0].clone()
    }
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::limited(QueryLimits::DEFAULT).await
    }

    pub(crate) async fn limited(limits: QueryLimits) -> Self {
        let keys = KeyServer::start().await;
        let folder = tempfile::tempdir().unwrap();
        let options = Options { speed: Speed::MAX, ..Options::default() };
        let running = Running::with(folder.path(), Clock::running(), 1, options).await;
        let database = TestDatabase::sqlite();
        let provisioner = provisioner(&running, &database).await;
        let parts = ProvisionerParts {
            provisioner: provisioner.clone(),
            readiness: Arc::new(Half),
            verifier: Arc::new(keys.verifier()),
            limits,
        };
        let limits = RequestLimits { body: 200_000, ..RequestLimits::DEFAULT };
        let audit = Operations::new(provisioner.parts().engine.clone()).audit();
        let routes = api::router::provisioner(parts).layer(Extension(audit.clone()));
        let routes = shielded(routes, limits);
        let mut service = Self {
            provisioner,
            runtime: String::new(),
            operation: String::new(),
            running,
            routes,
            keys,
            audit,
            _database: database,
            _folder: folder,
        };
        let answer = service.provision("c-0", "").await;
        service.operation = answer["id"].as_str().unwrap().to_owned();
        service.runtime = answer["runtimeID"].as_str().unwrap().to_owned();
        service.finish().await;
        service
    }

    /// Orders a cluster with this name and these further fields.
    pub(crate) async fn provision(&self, name: &str, more: &str) -> Value {
        let query = PROVISION.replace("NAME", name).replace("MORE", more);
        self.run(&query).await.data()["result"].clone()
    }

    /// Lets the operation that is under way succeed, with a kubeconfig for its runtime.
    pub(crate) async fn finish(&self) {
        let engine = &self.provisioner.parts().engine;
        let mut alive = engine.alive();
        let replica = alive.wait_for(Option::is_some).await.unwrap().unwrap();
        let kinds = [
            (Provisioning::KIND, Provisioning::VERSION),
            (ProvisioningNoInstall::KIND, ProvisioningNoInstall::VERSION),
            (Upgrade::KIND, Upgrade::VERSION),
            (UpgradeShoot::KIND, UpgradeShoot::VERSION),
            (Reconnection::KIND, Reconnection::VERSION),
        ];
        let kinds = kinds.map(|(kind, version)| (kind.to_owned(), version));
        let ask = ClaimRequest { replica, kinds: &kinds, room: 1, crowded: &[], after_lane: "" };
        let storage = engine.storage();
        let mut held = storage.claim(&ask).await.unwrap().operations.remove(0);
        held.position.state = State::Succeeded;
        held.position.ended_at = Some(engine.clock().now());
        let runtime = held.instance.parse().unwrap();
        let kubeconfig = Kubeconfig {
            text: "apiVersion: v1".into(),
            until: "2100-01-01T00:00:00Z".parse().unwrap(),
        };
        self.provisioner.parts().store.save_kubeconfig(runtime, &kubeconfig).await.unwrap();
        let provisioned = RuntimeChange { provisioned: true, ..RuntimeChange::default() };
        let body = serde_json::to_value(&provisioned).unwrap();
        let commit = Commit {
            id: held.id,
            epoch: held.epoch,
            serial: held.serial,
            position: held.position,
            then: AfterCommit::End,
            run: None,
            data: None,
            data_version: held.data_version,
            changes: vec![Change { topic: provisioned.topic().into(), body }],
        };
        let landed = storage.commit(replica, &[commit]).await.unwrap();
        assert!(matches!(landed[0], CommitResult::Yes { .. }), "{landed:?}");
    }

    /// How many operations are stored.
    pub(crate) async fn operations(&self) -> usize {
        let filter = store::engine::Filter { most: 100, ..store::engine::Filter::default() };
        self.provisioner.parts().engine.storage().list(&filter).await.unwrap().operations.len()
    }

    /// How many calls the simulated garden has had.
    pub(crate) fn calls_of_the_garden(&self) -> usize {
        let all = self.running.landscape.ledger().all(&Filter::default()).unwrap();
        all.iter().filter(|one| one.about.system == "gardener").count()
    }

    /// The simulated garden fails from now on.
    pub(crate) fn break_the_garden(&self) {
        let failing = Kind::Status { status: 500, body: None };
        let rule = Rule { system: Some("gardener".into()), ..Rule::next(1_000, failing) };
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// A document with the ids of the runtime and the operation in it.
    pub(crate) fn named(&self, text: &str) -> String {
        text.replace("\"r\"", &format!("\"{}\"", self.runtime))
            .replace("\"o\"", &format!("\"{}\"", self.operation))
    }

    /// A good token with these scopes, for this tenant or for none.
    pub(crate) fn token(&self, scopes: &[&str], tenant: Option<&str>) -> String {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let mut claims = json!({
            "iss": self.keys.url, "sub": "broker", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
        });
        if let Some(tenant) = tenant {
            claims["tenant"] = tenant.into();
        }
        encode(&header, &claims, &self.keys.rsa.private).unwrap()
    }

    /// A request with a token that may do everything, and a tenant.
    pub(crate) fn request(&self, method: &str, uri: &str) -> Builder {
        let token = self.token(&[READ, WRITE, KUBECONFIG, ANY], None);
        Request::builder()
            .method(method)
            .uri(uri)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header("tenant", TENANT)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.routes.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body(), 1 << 22).await.unwrap();
        Reply { status, headers, text: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub(crate) async fn post(&self, body: &Value) -> Reply {
        let mut body = body.clone();
        if let Some(query) = body.get_mut("query").filter(|query| query.is_string()) {
            *query = self.named(query.as_str().unwrap()).into();
        }
        if body["variables"]["id"] == "o" {
            body["variables"]["id"] = self.operation.clone().into();
        }
        let request = self.request("POST", "/graphql").header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Runs a document.
    pub(crate) async fn run(&self, query: &str) -> Reply {
        self.post(&json!({"query": query})).await
    }

    /// Runs a document with variables.
    pub(crate) async fn run_with(&self, query: &str, variables: Value) -> Reply {
        self.post(&json!({"query": query, "variables": variables})).await
    }

    /// Sends a query by GET.
    pub(crate) async fn get(&self, parameters: &[(&str, &str)]) -> Reply {
        let parameters = parameters.iter().map(|(name, value)| (name, self.named(value)));
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let request = self.request("GET", &format!("/graphql?{query}"));
        self.send(request.body(Body::empty()).unwrap()).await
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.provisioner.parts().engine.kill();
    }
}

/// A provisioner in this landscape.
async fn provisioner(running: &Running, database: &TestDatabase) -> Provisioner {
    let clock = Clock::running();
    let opened = database.database().await;
    for set in [Set::Engine, Set::Provisioner] {
        opened.migrate(set).await.unwrap();
    }
    let engine = EngineStore::new(opened, Sealer::generate(), Time::Database, PlantedBug::Nothing);
    let store = ProvisionerStore::new(engine, clock.clone());
    let storage = Arc::new(store.engine().clone());
    let env = Arc::new(env(running, store.clone(), &clock).await);
    let engine = Engine::builder(storage, clock.clone(), engine::Settings::default()).start();
    let (defaults, limits) = (Defaults::default(), provisioner::limits::StageLimits::default());
    Provisioner::new(Parts { store, engine, env, defaults, limits, clock })
}

async fn env(running: &Running, store: ProvisionerStore, clock: &Clock) -> Env {
    let calls = Calls { call: Duration::from_secs(10), ..Calls::CLUSTER };
    let at = |path: &str| -> Url { format!("{}{path}", running.url).parse().unwrap() };
    let http = |component, path: &str| {
        Http::through(Gate::new(component, calls, clock.clone()), at(path)).unwrap()
    };
    let kubeconfig = SecretString::from(running.clusters().garden_kubeconfig());
    let garden = Gate::new(Component::GARDENER, calls, clock.clone());
    let grant = Grant::ClientCredentials {
        id: MACHINE.0.into(),
        secret: MACHINE.1.to_owned().into(),
        scope: "runtime:read runtime:write".into(),
    };
    let tokens = TokenSource::new(at("/oauth2/token"), grant, clock.clone()).unwrap();
    let releases = || http(Component::RELEASES, "/kyma-releases");
    Env {
        gardener: Gardener::new(
            Cluster::connect(garden, &kubeconfig).await.unwrap(),
            "kyma",
            OWNER,
        ),
        director: Director::new(http(Component::DIRECTOR, "/director/graphql").with_token(tokens)),
        clusters: Clusters::new(Component::RUNTIME, calls, clock.clone(), NonZeroUsize::MIN),
        releases: Releases::new(releases(), releases()),
        store,
        rules: Rules { project: "kyma".into(), ..Rules::default() },
        audit_tenants: AuditTenants::default(),
        settings: StepSettings::default(),
    }
}
