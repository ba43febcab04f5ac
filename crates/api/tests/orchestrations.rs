//! Orchestrations over a real socket, in the words of the known client: its bodies, its forms, its pages.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "orchestrations/client.rs"]
mod client;
#[path = "orchestrations/document.rs"]
mod document;
#[path = "orchestrations/ended.rs"]
mod ended;
#[path = "orchestrations/releases.rs"]
mod releases;
#[path = "orchestrations/stream.rs"]
mod stream;
#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;

use api::{
    RequestLimits,
    router::{fleet, shielded},
};
use base::Clock;
use broker::{
    catalog::{Catalog, Offer},
    instances::{Broker, Caller, Parts as BrokerParts, Provision, Settings, SuspensionPlans},
    orchestrations::{
        Followers, OrchestrationEnv, Orchestrations, WindowSource, policy::Policy,
        source::WindowFacts,
    },
};
use engine::PlantedBug;
use futures::future::BoxFuture;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use store::{BrokerStore, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};

use support::tokens::{AUDIENCE, KeyServer, NOW};

const FORM: &str = "application/x-www-form-urlencoded";

/// Every runtime may always be upgraded.
struct AlwaysOpen;

impl WindowSource for AlwaysOpen {
    fn read(&self) -> BoxFuture<'_, Result<WindowFacts, clients::Error>> {
        let times = r#"{"default": {"timeBegin": "000000+0000", "timeEnd": "000000+0000"}}"#;
        let policy = Policy::read(times).unwrap();
        Box::pin(async move { Ok(WindowFacts { policy, ..WindowFacts::default() }) })
    }
}

struct Service {
    address: String,
    keys: KeyServer,
    broker: Broker,
    orchestrations: Orchestrations,
    clock: Clock,
    _test: TestDatabase,
}

impl Service {
    async fn start() -> Self {
        let test = TestDatabase::sqlite();
        let clock = Clock::held_at(Timestamp::from_second(NOW).unwrap());
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database, Sealer::generate(), time, PlantedBug::Nothing);
        let store = BrokerStore::new(engine, clock.clone());
        let broker = Broker::new(BrokerParts {
            accounts: None,
            operations: store.engine().clone(),
            store,
            shapes: vec![],
            catalog: Arc::new(Catalog::embedded().unwrap()),
            offer: Offer { plans: vec!["aws".into()], ..Offer::default() },
            settings: Settings {
                dashboard: "https://dashboard.test".into(),
                shoot_domain: "kyma.test".into(),
                kubeconfig_label: None,
                trial_notice: None,
                suspension: SuspensionPlans::default(),
                legacy: None,
            },
            clock: clock.clone(),
        });
        let orchestrations = Orchestrations::new(Arc::new(OrchestrationEnv {
            broker: broker.clone(),
            windows: Arc::new(AlwaysOpen),
            spc: None,
            kyma_version: "2.10.0".into(),
            versions: Some(releases::start().await),
            followers: Followers::default(),
        }));
        let keys = KeyServer::start().await;
        let routes = fleet(orchestrations.clone(), Arc::new(keys.verifier()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            axum::serve(listener, shielded(routes, RequestLimits::DEFAULT)).await
        });
        Self { address, keys, broker, orchestrations, clock, _test: test }
    }

    async fn order(&self, instance: &str) {
        let order = Provision {
            instance_id: instance.into(),
            region: Some("cf-eu10".into()),
            service_id: "47c9dcbf-ff30-448e-ab36-d3bad66ba281".into(),
            plan_id: "361c511f-f939-4621-b228-d0fb79a1fe15".into(),
            context: Some(json!({
                "globalaccount_id": "ga-1", "subaccount_id": "sa-1", "user_id": "jo@example.test",
            })),
            parameters: Some(json!({ "name": instance })),
            maintenance_version: None,
            accepts_incomplete: true,
        };
        self.broker.provision(&Caller::default(), order).await.unwrap();
    }

    fn token(&self) -> String {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let scopes = ["orchestrations:read", "orchestrations:write", "tenants:any"];
        let claims = json!({
            "iss": self.keys.url, "sub": "jo", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
        });
        encode(&header, &claims, &self.keys.rsa.private).unwrap()
    }

    async fn send(&self, method: Method, path: &str, content: &str, body: &str) -> (u16, Value) {
        let request = reqwest::Client::new()
            .request(method, format!("{}{path}", self.address))
            .bearer_auth(self.token())
            .header("content-type", content)
            .body(body.to_owned());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// The same, for answers that need not be JSON.
    async fn raw(&self, method: Method, path: &str, content: &str, body: &str) -> (u16, Value) {
        let request = reqwest::Client::new()
            .request(method, format!("{}{path}", self.address))
            .bearer_auth(self.token())
            .header("content-type", content)
            .body(body.to_owned());
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }

    /// Ends an orchestration as its driver does.
    async fn end(&self, id: &str) {
        let store = &self.broker.parts().store;
        let row = store.orchestration(id.parse().unwrap()).await.unwrap().unwrap();
        assert!(store.finish_orchestration(row.id, row.driver, "canceled").await.unwrap());
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(Method::POST, path, "application/json", &body.to_string()).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send(Method::GET, path, "application/json", "").await
    }
}

/// The body that the known client sends for all runtimes.
fn body(schedule: &str, workers: i64, kyma: Option<Value>) -> Value {
    let mut body = json!({
        "targets": { "include": [{ "target": "all" }] },
        "strategy": {
            "type": "parallel", "schedule": schedule, "ScheduleTime": "0001-01-01T00:00:00Z",
            "parallel": { "workers": workers }
        },
        "retryoperation": {},
    });
    if let Some(kyma) = kyma {
        body["kyma"] = kyma;
    }
    body
}

#[tokio::test]
async fn the_known_clients_requests_are_answered_so_that_it_goes_on() {
    let service = Service::start().await;
    service.made(1).await;

    let mut ids = Vec::new();
    for (path, body) in [
        ("/upgrade/kyma", body("now", 1, Some(json!({})))),
        ("/upgrade/kyma", body("immediate", 7, Some(json!({ "version": "2.11.0" })))),
        ("/upgrade/kyma", body("", 1, Some(json!({ "version": "PR-123" })))),
        ("/upgrade/cluster", body("2026-12-31T22:00:00+01:00", 3, None)),
        ("/upgrade/cluster", body("immediate", 0, None)),
    ] {
        let (status, answer) = service.post(path, &body).await;
        assert_eq!(status, 202, "{answer}");
        ids.push(answer["orchestrationID"].as_str().unwrap().to_owned());
    }

    let (_, list) = service.get("/orchestrations?page=1&page_size=100").await;
    assert_eq!((&list["count"], &list["totalCount"]), (&json!(5), &json!(5)));
    assert_eq!(list["data"][0]["orchestrationID"], json!(ids[0]));
    let (_, some) =
        service.get("/orchestrations?page=1&page_size=2&state=in+progress&state=pending").await;
    assert_eq!((&some["count"], &some["totalCount"]), (&json!(2), &json!(5)));

    let (status, one) = service.get(&format!("/orchestrations/{}", ids[1])).await;
    assert_eq!(
        (status, &one["type"], &one["state"]),
        (200, &json!("upgradeKyma"), &json!("pending"))
    );
    assert_eq!(one["parameters"]["kyma"]["version"], "2.11.0");
    assert_eq!(one["parameters"]["strategy"]["ScheduleTime"], "0001-01-01T00:00:00Z");
    assert_eq!(one["operationStats"], json!({ "failed": 0 }));
    let (_, later) = service.get(&format!("/orchestrations/{}", ids[3])).await;
    assert_eq!(later["parameters"]["strategy"]["ScheduleTime"], "2026-12-31T21:00:00Z");

    let (status, operations) =
        service.get(&format!("/orchestrations/{}/operations?page=1&page_size=100", ids[0])).await;
    assert_eq!((status, operations), (200, json!({ "data": [], "count": 0, "totalCount": 0 })));

    for body in ["", "&immediate=true", "operation-id=OID1&operation-id=OID2&immediate=true"] {
        let path = format!("/orchestrations/{}/retry", ids[0]);
        let (status, answer) = service.send(Method::POST, &path, FORM, body).await;
        assert_eq!((status, &answer["retryShoots"]), (202, &Value::Null), "{answer}");
        assert!(answer["msg"].as_str().unwrap().starts_with("No valid operations"));
    }
    for _ in 0..2 {
        let path = format!("/orchestrations/{}/cancel", ids[0]);
        let (status, answer) = service.send(Method::PUT, &path, "", "").await;
        assert_eq!((status, answer), (200, json!({ "orchestrationID": ids[0] })));
    }
    let (_, canceled) = service.get(&format!("/orchestrations/{}", ids[0])).await;
    assert_eq!(canceled["state"], "canceling");
}

#[tokio::test]
async fn what_is_wrong_is_said_with_its_status_and_its_field() {
    let service = Service::start().await;
    service.made(1).await;
    let good = body("now", 1, Some(json!({})));
    let (_, created) = service.post("/upgrade/kyma", &good).await;
    let id = created["orchestrationID"].as_str().unwrap().to_owned();
    let mut bad_pattern = good.clone();
    bad_pattern["targets"]["include"] = json!([{ "region": "(" }]);
    // Without the field it would be every runtime.
    let mut misspelt = body("now", 1, None);
    misspelt["targets"]["include"] = json!([{ "target": "all", "plan": "trial" }]);

    for (path, body, problem) in [
        ("/upgrade/kyma", body("now", 1, None), "kyma is missing"),
        ("/upgrade/kyma", bad_pattern, "targets.include[0].region is no pattern"),
        (
            "/upgrade/kyma",
            body("now", 1, Some(json!({ "version": "9.9.9" }))),
            "kyma.version: there is no Kyma 9.9.9",
        ),
        (
            "/upgrade/kyma/preview",
            body("now", 1, Some(json!({ "version": "9.9.9" }))),
            "kyma.version: there is no Kyma 9.9.9",
        ),
        ("/upgrade/cluster", body("tomorrow", 1, None), "strategy.schedule must be"),
        ("/upgrade/cluster", body("now", -1, None), "strategy.parallel.workers must be"),
        ("/upgrade/cluster", json!("x"), "while decoding request body"),
        ("/upgrade/cluster", misspelt.clone(), "targets.include[0].plan is not known here"),
        ("/upgrade/cluster/preview", misspelt, "targets.include[0].plan is not known here"),
    ] {
        let (status, answer) = service.post(path, &body).await;
        assert_eq!(status, 400);
        assert!(answer["error"].as_str().unwrap().starts_with(problem), "{answer}");
    }
    // One value of a key would be checked on the way, and another one be done.
    for (twice, problem) in [
        (r#"{"dryRun":true,"targets":{"include":[{"target":"all"}]},"dryRun":false}"#, "dryRun"),
        (r#"{"dryRun":true,"targets":{"include":[{"shoot":"c-1","shoot":"c-2"}]}}"#, "shoot"),
    ] {
        for path in ["/upgrade/cluster", "/upgrade/cluster/preview"] {
            let answer = service.send(Method::POST, path, "application/json", twice).await;
            let problem = format!("while decoding request body: {problem} is given twice");
            assert_eq!(answer.0, 400, "{path} {twice}");
            assert!(answer.1["error"].as_str().unwrap().starts_with(&problem), "{}", answer.1);
        }
    }
    for path in
        ["/orchestrations/nope", "/orchestrations/nope/operations", "/orchestrations/nope/progress"]
    {
        assert_eq!(service.get(path).await.0, 404);
    }
    assert_eq!(service.get(&format!("/orchestrations/{id}/operations/nope")).await.0, 404);
    assert_eq!(service.get("/orchestrations?page=0").await.0, 400);
    for path in ["/orchestrations".to_owned(), format!("/orchestrations/{id}/operations")] {
        let (status, answer) = service.get(&format!("{path}?state=failed&state=bogus")).await;
        let problem = "while getting query parameters: state \"bogus\" is none of: pending, in progress, \
                       canceling, retrying, canceled, succeeded, failed";
        assert_eq!((status, &answer["error"]), (400, &json!(problem)));
    }
    let retry = format!("/orchestrations/{id}/retry");
    assert_eq!(service.post(&retry, &json!({})).await.0, 415);
    let resume = format!("/orchestrations/{id}/resume");
    assert_eq!(service.send(Method::PUT, &resume, "", "").await.0, 409);
    let workers = format!("/orchestrations/{id}/workers");
    let changed =
        service.send(Method::PATCH, &workers, "application/json", r#"{"workers": 9}"#).await;
    assert_eq!(changed.0, 200);
    let (status, answer) =
        service.send(Method::PATCH, &workers, "application/json", r#"{"workers": 1001}"#).await;
    let problem = "workers must be between 1 and 1000, not 1001";
    assert_eq!((status, &answer["error"]), (400, &json!(problem)));
    let (_, one) = service.get(&format!("/orchestrations/{id}")).await;
    assert_eq!(one["parameters"]["strategy"]["parallel"]["workers"], 9);
}

#[tokio::test]
async fn a_version_that_cannot_be_looked_for_is_taken() {
    let service = Service::start().await;
    service.made(1).await;

    let wish = body("now", 1, Some(json!({ "version": "5.0.3" })));
    let (status, answer) = service.post("/upgrade/kyma", &wish).await;

    assert_eq!(status, 202, "{answer}");
}

#[tokio::test]
async fn a_preview_creates_nothing() {
    let service = Service::start().await;
    service.order("i-1").await;

    let good = body("now", 1, Some(json!({})));
    let (status, preview) = service.post("/upgrade/kyma/preview", &good).await;

    // It is being made, so it is left out, and why is said.
    assert_eq!((status, &preview["count"]), (200, &json!(0)), "{preview}");
    assert_eq!(preview["skipped"][0]["reason"], "it is being provisioned");
    // And an upgrade of nobody is refused at once.
    let (status, refused) = service.post("/upgrade/kyma", &good).await;
    let problem = "targets: no runtime that matches can be upgraded now \
                   (instance i-1: it is being provisioned)";
    assert_eq!((status, &refused["error"]), (400, &json!(problem)));
    assert_eq!(service.get("/orchestrations").await.1["totalCount"], 0);
}
