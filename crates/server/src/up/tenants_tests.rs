//! Every route for tenants, asked on behalf of another tenant: what is foreign looks like what is not there.
//!
//! What a reader would get wrong: the routes are those of the table of access, so a new route for tenants is asked here too.

use std::time::Duration;

use api::scope::{ALL, ANY_TENANT};
use base::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    Up,
    access_tests::{Rule, broker_rows},
    testing,
};

const OWN: &str = "0a5f7c44-7b0b-4a41-9d3e-0a3d5d1f4a01";
const MISSING: &str = "0a5f7c44-7b0b-4a41-9d3e-0a3d5d1f4a02";
/// Stands for the id of an instance.
const NAMED: &str = "<instance>";
const BINDING: &str = "binding-1";

/// An id that is in use cannot be ordered again: the Open Service Broker API wants a conflict.
fn is_order(method: &str, path: &str) -> bool {
    method == "put" && path.ends_with("/v2/service_instances/{instance_id}")
}

struct Tenant<'a> {
    up: &'a Up,
    http: reqwest::Client,
    account: &'static str,
    token: String,
    ids: (String, String),
}

impl<'a> Tenant<'a> {
    async fn of(up: &'a Up, account: &'static str) -> Self {
        let issuer = up.landscape.issuer();
        let scopes = ALL.into_iter().filter(|scope| *scope != ANY_TENANT);
        let scopes: Vec<String> = scopes.map(ToOwned::to_owned).collect();
        let mut claims = serde_json::to_value(issuer.claims("kcp", "jo", &scopes, &[])).unwrap();
        claims["tenant"] = account.into();
        let token = issuer.sign(&claims).unwrap();
        let http = reqwest::Client::new();
        let ids = (String::new(), String::new());
        let mut tenant = Self { up, http, account, token, ids };
        let (_, catalog) = tenant.ask("get", "/oauth/v2/catalog", &Value::Null).await;
        let catalog: Value = serde_json::from_str(&catalog).unwrap();
        let service = &catalog["services"][0];
        let plans = service["plans"].as_array().unwrap();
        let plan = plans.iter().find(|plan| plan["name"] == "aws").unwrap();
        let text = |of: &Value| of["id"].as_str().unwrap().to_owned();
        tenant.ids = (text(service), text(plan));
        tenant
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let method: Method = method.to_uppercase().parse().unwrap();
        let (service, plan) = &self.ids;
        let query = if path.contains("/v2/service_instances") || path.starts_with("/bindings") {
            format!("?accepts_incomplete=true&service_id={service}&plan_id={plan}")
        } else {
            String::new()
        };
        let asked = self
            .http
            .request(method, format!("{}{path}{query}", self.up.connection.broker))
            .bearer_auth(&self.token)
            .header("x-broker-api-version", "2.17");
        let asked = if body.is_null() { asked } else { asked.json(body) };
        let answer = asked.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Asks a route of the table about an instance.
    async fn about(&self, method: &str, path: &str, instance: &str) -> (u16, String) {
        let mut body = if method == "get" { Value::Null } else { self.body() };
        if is_order(method, path) {
            body["parameters"] = json!({"name": "other"});
        }
        let path = path.replace("{instance_id}", instance).replace("{binding_id}", BINDING);
        let (status, text) = self.ask(method, &path.replace("{region}", "cf-eu10"), &body).await;
        (status, text.replace(instance, NAMED))
    }

    fn body(&self) -> Value {
        let (service, plan) = &self.ids;
        let account = self.account;
        json!({
            "service_id": service,
            "plan_id": plan,
            "context": {"globalaccount_id": account, "subaccount_id": "sa", "user_id": "jo@example.test"},
            "parameters": {},
        })
    }

    async fn order(&self, instance: &str) {
        let path = format!("/oauth/v2/service_instances/{instance}");
        let mut body = self.body();
        body["parameters"] = json!({"name": "own"});
        let (status, answer) = self.ask("put", &path, &body).await;
        assert_eq!(status, 202, "{answer}");
        for _ in 0..2_400 {
            let (_, answer) =
                self.ask("get", &format!("{path}/last_operation"), &Value::Null).await;
            if answer.contains("\"succeeded\"") {
                let binding = format!("{path}/service_bindings/{BINDING}");
                let (status, answer) = self.ask("put", &binding, &self.body()).await;
                assert_eq!(status, 201, "{answer}");
                return;
            }
            assert!(!answer.contains("\"failed\""), "{answer}");
            Clock::running().sleep(Duration::from_millis(50)).await;
        }
        panic!("the order does not end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_every_route_for_tenants_a_foreign_instance_looks_like_a_missing_one() {
    let started = testing::start().await;
    let owner = Tenant::of(started.up(), "ga-1").await;
    let other = Tenant::of(started.up(), "ga-2").await;
    owner.order(OWN).await;
    let before = owner.about("get", "/oauth/v2/service_instances/{instance_id}", OWN).await;
    assert_eq!(before.0, 200, "{before:?}");
    let rows = broker_rows();
    let rows = rows.iter().filter(|row| matches!(row.3, Rule::Tenants(_)));
    let mut compared = 0;

    for (method, path, ..) in rows {
        let shown = format!("{method} {path}");
        if !path.contains("{instance_id}") {
            let foreign = other.about(method, path, OWN).await;
            assert!(!foreign.1.contains(NAMED), "{shown}: {foreign:?}");
            continue;
        }
        let foreign = other.about(method, path, OWN).await;
        if is_order(method, path) {
            assert_eq!(foreign.0, 409, "{shown}: {foreign:?}");
            continue;
        }
        let missing = other.about(method, path, MISSING).await;
        assert_eq!(foreign, missing, "{shown}: foreign, and missing");
        let of_binding = path.ends_with("{binding_id}/last_operation");
        if method == "get" && !of_binding {
            let own = owner.about(method, path, OWN).await;
            assert_eq!(own.0, 200, "{shown}: {own:?}");
            assert_ne!(own, missing, "{shown}: own, and missing");
        }
        compared += 1;
    }

    assert!(compared > 15, "{compared}");
    for path in ["/runtimes", "/runtimes/export", "/info/runtimes"] {
        assert!(owner.about("get", path, OWN).await.1.contains(NAMED), "{path}");
    }
    let after = owner.about("get", "/oauth/v2/service_instances/{instance_id}", OWN).await;
    assert_eq!(after, before, "nothing was changed by the other tenant");
    let binding = "/oauth/v2/service_instances/{instance_id}/service_bindings/{binding_id}";
    assert_eq!(owner.about("get", binding, OWN).await.0, 200);
    started.stop().await;
}
