//! A landscape on a socket of its own, at a time that the test holds.

use std::{path::Path, sync::Arc};

use base::Clock;
use reqwest::{RequestBuilder, Response, redirect::Policy};
use serde_json::{Value, json};
use simulators::{
    landscape::{Landscape, SCOPES},
    testing::{MACHINE, Running, TENANTS},
    trouble::Rule,
};
use tempfile::TempDir;
use tokio::sync::watch;

pub(crate) const TENANT: &str = TENANTS[0];

pub(crate) struct World {
    pub(crate) url: String,
    pub(crate) address: String,
    pub(crate) http: reqwest::Client,
    pub(crate) token: String,
    pub(crate) landscape: Arc<Landscape>,
    pub(crate) clock: Clock,
    folder: TempDir,
    running: Running,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::seeded(7).await
    }

    pub(crate) async fn seeded(seed: u64) -> Self {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        Self::begin(tempfile::tempdir().unwrap(), clock, seed).await
    }

    async fn begin(folder: TempDir, clock: Clock, seed: u64) -> Self {
        let running = Running::start(folder.path(), clock.clone(), seed).await;
        let (url, landscape) = (running.url.clone(), running.landscape.clone());
        let address = url.trim_start_matches("http://").to_owned();
        let token = running.token(&SCOPES);
        let http = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        Self { url, address, http, token, landscape, clock, folder, running }
    }

    /// As after a kill: nothing is closed or written, everything is read again.
    pub(crate) async fn reopened(self) -> Self {
        self.reopened_after(|_| ()).await
    }

    /// The same, with a change of the files in between.
    pub(crate) async fn reopened_after(self, change: impl FnOnce(&Path)) -> Self {
        self.running.kill().await;
        drop(self.landscape);
        change(self.folder.path());
        Self::begin(self.folder, self.clock, 7).await
    }

    /// How many connections are open, as it changes.
    pub(crate) fn open(&mut self) -> &mut watch::Receiver<usize> {
        &mut self.running.open
    }

    /// A kubeconfig for a runtime, which is made unless it is there.
    pub(crate) fn kubeconfig(&self, runtime: &str) -> String {
        self.running.clusters().create_runtime(runtime).unwrap();
        self.running.clusters().kubeconfig(runtime).unwrap()
    }

    /// A file of the landscape.
    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn trouble(&self, rule: Rule) {
        self.landscape.troubles().add(rule).unwrap();
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.url))
    }

    pub(crate) fn control(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("{}/landscape{path}", self.url);
        self.http.request(method.parse().unwrap(), url).bearer_auth(&self.token)
    }

    pub(crate) fn ask_for_token(&self) -> RequestBuilder {
        self.post("/oauth2/token")
            .basic_auth(MACHINE.0, Some(MACHINE.1))
            .form(&[("grant_type", "client_credentials"), ("scope", "runtime:read runtime:write")])
    }

    pub(crate) fn graphql(&self, tenant: &str, query: &str, variables: &Value) -> RequestBuilder {
        self.post("/director/graphql")
            .bearer_auth(&self.token)
            .header("tenant", tenant)
            .json(&json!({ "query": query, "variables": variables }))
    }

    pub(crate) fn register(&self, name: &str) -> RequestBuilder {
        let query =
            "mutation ($in: RuntimeRegisterInput!) { result: registerRuntime(in: $in) { id } }";
        self.graphql(TENANT, query, &json!({ "in": { "name": name } }))
    }

    /// Registers a runtime; comes back with its id.
    pub(crate) async fn registered(&self, name: &str) -> String {
        let answer = json(self.register(name)).await;
        answer["data"]["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) async fn runtime(&self, id: &str) -> Value {
        let query = "query ($id: ID!) { result: runtime(id: $id) \
                     { id name description labels status { condition } } }";
        let answer = json(self.graphql(TENANT, query, &json!({ "id": id }))).await;
        answer["data"]["result"].clone()
    }
}

pub(crate) async fn send(request: RequestBuilder) -> Response {
    request.send().await.unwrap()
}

pub(crate) async fn json(request: RequestBuilder) -> Value {
    send(request).await.json().await.unwrap()
}

pub(crate) async fn status(request: RequestBuilder) -> u16 {
    send(request).await.status().as_u16()
}
