//! The simulated systems on a socket of their own, at a time that the test holds.

use base::Clock;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use simulators::{
    landscape::SCOPES,
    ledger::{Filter, Phase},
    testing::Running,
    trouble::{Kind, Rule},
};
use tempfile::TempDir;
use url::Url;

use super::{support::noon, test_systems::TestSystems};

pub(crate) struct World {
    pub(crate) clock: Clock,
    pub(crate) running: Running,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), noon());
        let running = Running::start(folder.path(), clock.clone(), 7).await;
        Self { clock, running, _folder: folder }
    }

    pub(crate) fn place(&self) -> TestSystems {
        let url = Url::parse(&self.running.url).unwrap();
        TestSystems::new(url.clone(), url, &self.clock)
    }

    /// The next `calls` calls of a system meet trouble.
    pub(crate) fn trouble(&self, system: &str, calls: u64, kind: Kind) {
        self.running.landscape.troubles().add(Rule::next(calls, kind).of(system)).unwrap();
    }

    /// The next call with this method and path meets trouble.
    pub(crate) fn trouble_on(&self, method: &str, path: &str, kind: Kind) {
        self.running.landscape.troubles().add(Rule::next(1, kind).on(method, path)).unwrap();
    }

    pub(crate) async fn order(&self, system: &str, order: &str, with: Value) {
        let request = self.control("POST", &format!("/systems/{system}/orders/{order}"));
        assert_eq!(request.json(&with).send().await.unwrap().status(), 204, "{order}");
    }

    /// The objects of a kind in a system.
    pub(crate) async fn objects(&self, system: &str, kind: &str) -> Vec<Value> {
        let request = self.control("GET", &format!("/systems/{system}/objects?kind={kind}"));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["objects"].as_array().unwrap().clone()
    }

    /// The calls of a system that arrived, as method and path.
    pub(crate) fn received(&self, system: &str) -> Vec<String> {
        let of = Some(system.to_owned());
        let filter = Filter { system: of, phase: Some(Phase::Received), ..Filter::default() };
        let entries = self.running.landscape.ledger().all(&filter).unwrap();
        let line = |about: &simulators::ledger::About| format!("{} {}", about.method, about.route);
        entries.iter().map(|entry| line(&entry.about)).collect()
    }

    fn control(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}/landscape{path}", self.running.url);
        let method = method.parse().unwrap();
        reqwest::Client::new().request(method, url).bearer_auth(self.running.token(&SCOPES))
    }
}

pub(crate) fn on() -> Value {
    json!({ "on": true })
}

pub(crate) fn off() -> Value {
    json!({ "on": false })
}

/// Applied, and the answer is gone.
pub(crate) fn lost() -> Kind {
    Kind::LostAnswer { status: None }
}
