//! A platform that orders, and an operator who looks at the landscape.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use base::Clock;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use server::up::Up;

/// A platform, and an operator who looks at the landscape.
pub(crate) struct Platform<'a> {
    pub(crate) up: &'a Up,
    pub(crate) http: reqwest::Client,
    pub(crate) service: String,
    pub(crate) plans: BTreeMap<String, String>,
}

/// Things that a system keeps: system, kind, id.
pub(crate) type ObjectIds = BTreeSet<(String, String, String)>;

impl<'a> Platform<'a> {
    pub(crate) async fn of(up: &'a Up) -> Self {
        let mut platform = Self {
            up,
            http: reqwest::Client::new(),
            service: String::new(),
            plans: BTreeMap::new(),
        };
        let (status, catalog) = platform.ask(Method::GET, "/oauth/v2/catalog", None).await;
        assert_eq!(status, 200);
        let service = &catalog["services"][0];
        service["id"].as_str().unwrap().clone_into(&mut platform.service);
        for plan in service["plans"].as_array().unwrap() {
            let text = |field: &str| plan[field].as_str().unwrap().to_owned();
            platform.plans.insert(text("name"), text("id"));
        }
        platform
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        let connection = &self.up.connection;
        let base =
            if path.starts_with("/landscape") { &connection.landscape } else { &connection.broker };
        let asked = self
            .http
            .request(method, format!("{base}{path}"))
            .bearer_auth(connection.token.expose_secret())
            .header("x-broker-api-version", "2.16");
        let asked = if let Some(body) = body { asked.json(body) } else { asked };
        let answer = asked.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    pub(crate) fn order(&self, plan: &str, parameters: &Value) -> Value {
        let mut all = json!({"name": format!("dev-{}", plan.replace('_', "-"))});
        all.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
        json!({
            "service_id": self.service,
            "plan_id": self.plans[plan],
            "context": {
                "platform": "kyma",
                "globalaccount_id": format!("ga-{plan}"),
                "subaccount_id": format!("sa-{plan}"),
                "user_id": "jo@example.test",
                "sm_operator_credentials": {
                    "clientid": "c", "clientsecret": "s", "sm_url": "https://sm.example.test",
                    "url": "https://auth.example.test", "xsappname": "x",
                },
            },
            "parameters": all,
        })
    }

    /// Follows the last operation of an instance to its end.
    pub(crate) async fn succeeded(&self, path: &str) {
        for _ in 0..2_400 {
            let (status, answer) =
                self.ask(Method::GET, &format!("{path}/last_operation"), None).await;
            match (status, answer["state"].as_str()) {
                (200, Some("in progress")) => {
                    assert!(!answer["description"].as_str().unwrap().is_empty());
                    Clock::running().sleep(Duration::from_millis(50)).await;
                }
                (200, Some("succeeded")) => return,
                _ => panic!("{path} is {status}: {answer}"),
            }
        }
        panic!("{path} does not end");
    }

    /// Whether the order of an instance has not come to this step yet.
    pub(crate) async fn is_before(&self, path: &str, step: usize) -> bool {
        let (_, answer) = self.ask(Method::GET, &format!("{path}/last_operation"), None).await;
        let text = answer["description"].as_str().unwrap_or_default();
        let at = text.strip_prefix("step ").and_then(|text| text.split(' ').next()?.parse().ok());
        answer["state"] == "in progress" && at.unwrap_or(0) < step
    }

    /// Everything that outside systems keep, without what belongs to tokens.
    pub(crate) async fn things(&self) -> ObjectIds {
        let (_, systems) = self.ask(Method::GET, "/landscape/systems", None).await;
        let mut things = ObjectIds::new();
        for system in systems["systems"].as_array().unwrap() {
            let system = system["name"].as_str().unwrap();
            if system == "issuer" {
                continue;
            }
            let path = format!("/landscape/systems/{system}/objects");
            let (_, objects) = self.ask(Method::GET, &path, None).await;
            for object in objects["objects"].as_array().unwrap() {
                let text = |field: &str| object[field].as_str().unwrap().to_owned();
                things.insert((system.to_owned(), text("kind"), text("id")));
            }
        }
        things
    }

    /// How often each thing was made, as the ledger has it: all changes that were posted.
    pub(crate) async fn posted(&self) -> BTreeMap<String, usize> {
        let (mut posted, mut after) = (BTreeMap::new(), 0);
        loop {
            let path = format!("/landscape/ledger?phase=applied&limit=1000&after={after}");
            let (_, page) = self.ask(Method::GET, &path, None).await;
            for entry in page["entries"].as_array().unwrap() {
                let route = entry["route"].as_str().unwrap();
                if entry["method"] == "POST" && route.ends_with("/shoots") {
                    let object = entry["object"].as_str().unwrap().to_owned();
                    *posted.entry(object).or_default() += 1;
                }
            }
            if page["more"] != true {
                return posted;
            }
            after = page["next"].as_u64().unwrap();
        }
    }
}
