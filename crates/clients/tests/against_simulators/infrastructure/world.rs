//! A landscape at a time that the test holds, and the clients that call it.

use std::sync::Arc;

use base::Clock;
use clients::{
    CallLimits, Component, Gate,
    aws::{self, Aws},
    azure::{self, Azure, Cloud, Credentials},
    cis,
    reconciler::{self, Reconciler},
};
use serde_json::{Value, json};
use simulators::{
    landscape::{READ, WRITE},
    ledger::{Filter, Phase},
    testing::{MACHINE, Running},
    trouble::{Kind, Rule},
};
use tempfile::TempDir;
use url::Url;

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) clock: Clock,
    http: reqwest::Client,
    _folder: TempDir,
}

pub(crate) const SUBSCRIPTION: &str = "sub-1";
pub(crate) const KEY: &str = "AKIAEXAMPLE";

pub(crate) fn gate(component: Component, limits: CallLimits, clock: &Clock) -> Arc<Gate> {
    Gate::new(component, limits, clock.clone())
}

pub(crate) fn reconciler(url: Url, limits: CallLimits, clock: &Clock) -> Reconciler {
    let settings = reconciler::Settings { url };
    Reconciler::through(gate(reconciler::COMPONENT, limits, clock), &settings).unwrap()
}

pub(crate) fn cis_settings(url: Url, token_url: Url, page_size: u16) -> cis::Settings {
    let (client_id, client_secret) = (MACHINE.0.to_owned(), MACHINE.1.to_owned().into());
    cis::Settings { url, token_url, client_id, client_secret, page_size }
}

/// The gates of CIS and of its issuer.
pub(crate) fn cis_gates(limits: CallLimits, clock: &Clock) -> (Arc<Gate>, Arc<Gate>) {
    let tokens = gate(Component::ISSUER, CallLimits::DEFAULT, clock);
    (gate(cis::COMPONENT, limits, clock), tokens)
}

pub(crate) fn azure(
    authority: Url,
    management: Url,
    secret: &str,
    limits: CallLimits,
    clock: &Clock,
) -> Azure {
    let credentials = Credentials {
        subscription_id: SUBSCRIPTION.into(),
        tenant_id: "tenant-1".into(),
        client_id: "client-1".into(),
        client_secret: secret.to_owned().into(),
    };
    let settings = azure::Settings { cloud: Cloud { authority, management }, credentials };
    let tokens = gate(Component::ISSUER, CallLimits::DEFAULT, clock);
    Azure::through(gate(azure::COMPONENT, limits, clock), tokens, &settings).unwrap()
}

pub(crate) fn aws(endpoint: Url, limits: CallLimits, clock: &Clock) -> Aws {
    let settings = aws::Settings {
        access_key_id: KEY.into(),
        secret_access_key: "aws-s3cret-key".to_owned().into(),
        endpoint: Some(endpoint),
    };
    Aws::through(gate(aws::COMPONENT, limits, clock), settings)
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::at(Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap())).await
    }

    pub(crate) async fn at(clock: Clock) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::start(folder.path(), clock.clone(), 7).await;
        Self { running, clock, http: reqwest::Client::new(), _folder: folder }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.running.url)).unwrap()
    }

    pub(crate) fn reconciler(&self) -> Reconciler {
        reconciler(self.url("/reconciler"), CallLimits::DEFAULT, &self.clock)
    }

    pub(crate) fn cis(&self, page_size: u16) -> cis::Settings {
        cis_settings(self.url("/cis"), self.url("/oauth2/token"), page_size)
    }

    pub(crate) fn azure(&self, secret: &str) -> Azure {
        let url = self.url("/azure");
        azure(url.clone(), url, secret, CallLimits::DEFAULT, &self.clock)
    }

    pub(crate) fn aws(&self) -> Aws {
        aws(self.url("/aws/"), CallLimits::DEFAULT, &self.clock)
    }

    /// Gives an order over the control API.
    pub(crate) async fn order(&self, system: &str, order: &str, with: Value) {
        let url = self.url(&format!("/landscape/systems/{system}/orders/{order}"));
        let token = self.running.token(&[READ, WRITE]);
        let request = self.http.post(url).bearer_auth(token).json(&with);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 204, "{order} {with}: {}", answer.text().await.unwrap());
    }

    /// The objects of a kind in a system, by id.
    pub(crate) async fn objects(&self, system: &str, kind: &str) -> Vec<(String, Value)> {
        let url = self.url(&format!("/landscape/systems/{system}/objects?kind={kind}"));
        let token = self.running.token(&[READ]);
        let answer = self.http.get(url).bearer_auth(token).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let objects = answer["objects"].as_array().unwrap().iter();
        objects.map(|it| (it["id"].as_str().unwrap().to_owned(), it["value"].clone())).collect()
    }

    /// The next calls of a system with this method meet this trouble.
    pub(crate) fn trouble(&self, system: &str, method: &str, calls: u64, kind: Kind) {
        let rule = Rule::next(calls, kind).of(system).on(method, "/");
        self.running.landscape.troubles().add(rule).unwrap();
    }

    /// The paths of the calls that a system got.
    pub(crate) fn calls(&self, system: &str) -> Vec<String> {
        let filter = Filter {
            system: Some(system.into()),
            phase: Some(Phase::Received),
            ..Filter::default()
        };
        let entries = self.running.landscape.ledger().all(&filter).unwrap();
        entries.into_iter().map(|entry| entry.about.route).collect()
    }

    pub(crate) async fn add_subscription(&self, secret: &str) {
        let with = json!({
            "subscription": SUBSCRIPTION, "tenant": "tenant-1", "client": "client-1",
            "secret": secret,
        });
        self.order("azure", "add-subscription", with).await;
    }
}
