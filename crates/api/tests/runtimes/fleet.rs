//! A broker with a few orders behind a real socket.

use std::sync::Arc;

use api::{
    RequestLimits,
    router::{runtimes, shielded},
    runtimes::RuntimesParts,
};
use base::Clock;
use broker::{
    catalog::{Catalog, Offer},
    instances::{Broker, Caller, Parts, Provision, Settings, SuspensionPlans},
};
use engine::PlantedBug;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, Header, encode};
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::{BrokerStore, Database, EngineStore, Sealer, Set, engine::Time, testing::TestDatabase};

use crate::support::tokens::{AUDIENCE, KeyServer, NOW};

pub(crate) const READ: &str = "runtimes:read";
pub(crate) const ANY: &str = "tenants:any";
const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
const AWS: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";

pub(crate) struct Fleet {
    address: String,
    keys: KeyServer,
    pub(crate) broker: Broker,
    pub(crate) database: Database,
    _test: TestDatabase,
}

impl Fleet {
    pub(crate) async fn sqlite() -> Self {
        Self::on(TestDatabase::sqlite()).await
    }

    pub(crate) async fn postgres() -> Self {
        Self::on(TestDatabase::postgres().await).await
    }

    async fn on(test: TestDatabase) -> Self {
        let clock = Clock::held_at(Timestamp::from_second(NOW).unwrap());
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let sealer = Sealer::generate();
        let time = Time::Held(clock.clone());
        let engine = EngineStore::new(database.clone(), sealer, time, PlantedBug::Nothing);
        let store = BrokerStore::new(engine, clock.clone());
        let engine = store.engine().clone();
        let broker = Broker::new(Parts {
            accounts: None,
            store,
            operations: engine,
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
            clock,
        });
        let keys = KeyServer::start().await;
        let parts = RuntimesParts { broker: broker.clone(), verifier: Arc::new(keys.verifier()) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let routes = shielded(runtimes(parts), RequestLimits::DEFAULT);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, keys, broker, database, _test: test }
    }

    /// Orders an instance for a global account.
    pub(crate) async fn order(&self, instance: &str, account: &str) {
        let order = Provision {
            instance_id: instance.into(),
            region: Some("cf-eu10".into()),
            service_id: SERVICE.into(),
            plan_id: AWS.into(),
            context: Some(json!({
                "globalaccount_id": account, "subaccount_id": format!("{account}-sub"),
                "user_id": "jo@example.test",
            })),
            parameters: Some(json!({"name": format!("name-of-{instance}")})),
            maintenance_version: None,
            accepts_incomplete: true,
        };
        self.broker.provision(&Caller::default(), order).await.unwrap();
    }

    pub(crate) fn token(&self, scopes: &[&str], tenant: Option<&str>) -> String {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some("rsa".into());
        let mut claims = json!({
            "iss": self.keys.url, "sub": "jo", "aud": AUDIENCE, "exp": NOW + 3600, "scp": scopes,
        });
        if let Some(tenant) = tenant {
            claims["tenant"] = tenant.into();
        }
        encode(&header, &claims, &self.keys.rsa.private).unwrap()
    }

    /// Sends a request with this token, or with none.
    pub(crate) async fn send(
        &self,
        method: &str,
        query: &str,
        token: Option<&str>,
    ) -> (StatusCode, Value) {
        let address = format!("{}/runtimes{query}", self.address);
        let method = method.to_uppercase().parse().unwrap();
        let mut request = reqwest::Client::new().request(method, address);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let body = answer.bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// What is exported with a token that may see everything; not read yet.
    pub(crate) async fn exporting(&self, query: &str) -> reqwest::Response {
        let token = self.token(&[READ, ANY], None);
        let address = format!("{}/runtimes/export{query}", self.address);
        reqwest::Client::new().get(address).bearer_auth(token).send().await.unwrap()
    }

    /// The same, read to its end.
    pub(crate) async fn export(&self, query: &str) -> String {
        let answer = self.exporting(query).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.text().await.unwrap()
    }

    /// The response to metering.
    pub(crate) async fn infos(&self, token: &str) -> (StatusCode, Value) {
        let address = format!("{}/info/runtimes", self.address);
        let request = reqwest::Client::new().get(address).bearer_auth(token);
        let answer = request.header("x-request-id", "r-1").send().await.unwrap();
        let status = answer.status();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// Asks with a token that may see everything.
    pub(crate) async fn ask(&self, query: &str) -> (StatusCode, Value) {
        let token = self.token(&[READ, ANY], None);
        self.send("get", query, Some(&token)).await
    }
}

/// The instances on a page; the counts must agree with `total`.
pub(crate) fn ids((status, page): (StatusCode, Value), total: u64) -> Vec<String> {
    assert_eq!(status, StatusCode::OK, "{page}");
    let data = page["data"].as_array().unwrap();
    assert_eq!((&page["count"], &page["totalCount"]), (&json!(data.len()), &json!(total)));
    data.iter().map(|runtime| runtime["instanceID"].as_str().unwrap().to_owned()).collect()
}
