//! The operator's calls to the broker, and to the landscape.

mod bindings;
mod orchestrations;
mod orders;

use std::{path::Path, sync::Arc};

use anyhow::Context;
use base::Clock;
use clients::{Component, Grant, Http, Kind, TokenSource, http::Limits};
use domain::OperationId;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use orders::InstanceChange;

use crate::connection::{self, Connection};

/// The public client under which people log in.
const PEOPLE: &str = "kcp";
/// The simulated outside world.
const LANDSCAPE: Component = Component("landscape");
/// The runtime provisioner.
const PROVISIONER: Component = Component("provisioner");

/// Speaks to one control plane.
pub(crate) struct Client {
    http: Http,
    address: String,
}

impl Client {
    /// Finds the control plane; nothing is sent yet.
    pub(crate) fn connect(data: Option<&Path>) -> anyhow::Result<Self> {
        let found = connection::find(data)?;
        let address = found.broker.to_string();
        let http = Http::new(Component::BROKER, found.broker.clone(), Limits::DEFAULT)?;
        Ok(Self { http: http.with_token(token_source(found)?).renewing_refused_tokens(), address })
    }

    /// The same for the provisioner.
    pub(crate) fn connect_to_provisioner(data: Option<&Path>) -> anyhow::Result<Self> {
        let found = connection::find(data)?;
        let address = found.provisioner.to_string();
        let http = Http::new(PROVISIONER, found.provisioner.clone(), Limits::DEFAULT)?;
        Ok(Self { http: http.with_token(token_source(found)?).renewing_refused_tokens(), address })
    }

    /// The same for the landscape's control API.
    pub(crate) fn connect_to_landscape(data: Option<&Path>) -> anyhow::Result<Self> {
        let found = connection::find(data)?;
        let address = found.landscape.to_string();
        let http = Http::new(LANDSCAPE, found.landscape.clone(), Limits::DEFAULT)?;
        Ok(Self { http: http.with_token(token_source(found)?).renewing_refused_tokens(), address })
    }

    /// Asks the control API for something.
    pub(crate) async fn look(
        &self,
        doing: &str,
        path: &str,
        query: &[(&str, String)],
    ) -> anyhow::Result<Value> {
        self.send(doing, self.http.get(&format!("/landscape{path}")).query(query)).await
    }

    /// Has the control API change something; it may have nothing to say.
    pub(crate) async fn change(
        &self,
        doing: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<()> {
        let request = self.http.request(method, &format!("/landscape{path}"));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = self.http.send(doing, request).await;
        self.reached(answer).map(drop)
    }

    pub(crate) async fn list(&self, query: &[(&str, String)]) -> anyhow::Result<Value> {
        self.send("listing operations", self.http.get("/operations").query(query)).await
    }

    pub(crate) async fn find(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}"));
        self.send(&format!("looking at operation {id}"), request).await
    }

    pub(crate) async fn journal(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}/journal"));
        self.send(&format!("reading the journal of operation {id}"), request).await
    }

    pub(crate) async fn waiting(&self, id: &OperationId) -> anyhow::Result<Value> {
        let request = self.http.get(&format!("/operations/{id}/waiting"));
        self.send(&format!("asking why operation {id} waits"), request).await
    }

    /// Cancels, retries or abandons an operation, or skips a step of it.
    pub(crate) async fn unstick(
        &self,
        id: &OperationId,
        action: &str,
        body: &Value,
    ) -> anyhow::Result<Value> {
        let request = self.http.post(&format!("/operations/{id}/{action}")).json(body);
        self.send(&format!("{action} of operation {id}"), request).await
    }

    /// What happened to an instance.
    pub(crate) async fn events(&self, instance: &str) -> anyhow::Result<Value> {
        let request = self.http.get("/events").query(&[("instance_ids", instance)]);
        self.send(&format!("reading the events of {instance}"), request).await
    }

    /// Whether the audit is what it was.
    pub(crate) async fn verify_audit(&self) -> anyhow::Result<Value> {
        self.send("verifying the audit", self.http.get("/audit/verify")).await
    }

    /// What removals could not remove, behind an instance.
    pub(crate) async fn leftovers(&self, after: Option<&str>) -> anyhow::Result<Value> {
        let query: Vec<(&str, &str)> = after.map(|after| ("after", after)).into_iter().collect();
        self.send("listing what is left", self.http.get("/leftovers").query(&query)).await
    }

    /// What may exist in systems that cannot be asked, behind an entry.
    pub(crate) async fn may_exist(&self, after: Option<&str>) -> anyhow::Result<Value> {
        let query: Vec<(&str, &str)> = after.map(|after| ("after", after)).into_iter().collect();
        self.send("listing what may exist", self.http.get("/may-exist").query(&query)).await
    }

    /// Takes an entry off that list.
    pub(crate) async fn settle(&self, id: &Uuid) -> anyhow::Result<()> {
        let request = self.http.delete(&format!("/may-exist/{id}"));
        self.reached(self.http.send(&format!("settling {id}"), request).await).map(drop)
    }

    /// What works, waits, is stuck, failed and is left of the pool.
    pub(crate) async fn status(&self) -> anyhow::Result<Value> {
        self.send("reading the status", self.http.get("/answers/status")).await
    }

    /// All jobs.
    pub(crate) async fn jobs(&self) -> anyhow::Result<Value> {
        self.send("listing jobs", self.http.get("/jobs")).await
    }

    /// One job.
    pub(crate) async fn job(&self, name: &str) -> anyhow::Result<Value> {
        let path = format!("/jobs/{}", in_path(name)?);
        self.send(&format!("looking at job {name}"), self.http.get(&path)).await
    }

    /// Starts a run of a job.
    pub(crate) async fn run_job(&self, name: &str, dry_run: bool) -> anyhow::Result<Value> {
        let request = self.http.post(&format!("/jobs/{}/run", in_path(name)?));
        let request = request.json(&json!({ "dry_run": dry_run }));
        self.send(&format!("starting job {name}"), request).await
    }

    async fn send(&self, doing: &str, request: RequestBuilder) -> anyhow::Result<Value> {
        let answer = self.http.send(doing, request).await;
        self.reached(answer.and_then(|answer| answer.json()))
    }

    fn reached<T>(&self, answer: Result<T, clients::Error>) -> anyhow::Result<T> {
        match answer {
            Err(error) if error.kind == Kind::Unavailable && error.source.is_some() => {
                anyhow::bail!(
                    "no control plane found: nothing answers at {}, start one with `kcp up`",
                    self.address
                )
            }
            answer => Ok(answer?),
        }
    }
}

/// A name as one segment of a path.
fn in_path(name: &str) -> anyhow::Result<String> {
    clients::http::segment(name).with_context(|| format!("\"{name}\" is no name"))
}

fn token_source(found: Connection) -> anyhow::Result<Arc<TokenSource>> {
    let endpoint = found.landscape.join("/oauth2/token").context("the landscape has no address")?;
    let until = found.token_until();
    let grant =
        Grant::Password { client: PEOPLE.into(), user: found.user, password: found.password };
    let source = TokenSource::new(endpoint, grant, Clock::running())?;
    Ok(match until {
        Some(until) => source.starting_with(found.token, until),
        None => source,
    })
}
