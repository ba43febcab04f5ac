//! The operator's calls to the broker, and to the landscape.

mod bindings;
mod mothership;
mod orchestrations;
mod orders;

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use base::Clock;
use clients::{Component, Grant, Http, Kind, TokenSource, http::Limits};
use domain::OperationId;
use reqwest::{Method, RequestBuilder};
use secrecy::SecretString;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) use bindings::binding_path;
pub(crate) use orders::{InstanceChange, order_path};

use crate::{
    connection::{self, Connection},
    remote::{self, config::Context, tokens},
};

/// The public client under which people log in.
const PEOPLE: &str = "kcp";
/// The simulated outside world.
const LANDSCAPE: Component = Component("landscape");
/// Longer than any command runs.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);
/// The runtime provisioner.
const PROVISIONER: Component = Component("provisioner");
/// Who installs Kyma.
const RECONCILER: Component = Component("reconciler");

/// Speaks to one control plane.
pub(crate) struct Client {
    http: Http,
    address: String,
    /// Whether it is the broker, who knows runtimes.
    is_broker: bool,
}

impl Client {
    /// Finds the control plane; nothing is sent yet.
    pub(crate) fn connect(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            let http = Http::new(Component::BROKER, target.server.clone(), Limits::DEFAULT)?;
            let (http, address) = (http.with_token(stored(&target)?), target.server.to_string());
            return Ok(Self { http, address, is_broker: true });
        }
        let found = connection::find(data)?;
        let address = found.broker.to_string();
        let http = Http::new(Component::BROKER, found.broker.clone(), Limits::DEFAULT)?;
        let http = http.with_token(token_source(found)?).renewing_refused_tokens();
        Ok(Self { http, address, is_broker: true })
    }

    /// The same for the provisioner.
    pub(crate) fn connect_to_provisioner(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            let Some(url) = target.provisioner.clone() else {
                anyhow::bail!(
                    "the context names no provisioner: kcp context add --provisioner URL"
                );
            };
            let http = Http::new(PROVISIONER, url.clone(), Limits::DEFAULT)?;
            let (http, address) = (http.with_token(stored(&target)?), url.to_string());
            return Ok(Self { http, address, is_broker: false });
        }
        let found = connection::find(data)?;
        let address = found.provisioner.to_string();
        let http = Http::new(PROVISIONER, found.provisioner.clone(), Limits::DEFAULT)?;
        let http = http.with_token(token_source(found)?).renewing_refused_tokens();
        Ok(Self { http, address, is_broker: false })
    }

    /// The same for the Reconciler, as operators see it.
    pub(crate) fn connect_to_mothership(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            let Some(url) = target.mothership.clone() else {
                anyhow::bail!(
                    "the context names no Reconciler: kcp context add --mothership URL, or mothership-api-url \
                     in the known client's settings"
                );
            };
            let http = Http::new(RECONCILER, url.clone(), Limits::DEFAULT)?;
            let (http, address) = (http.with_token(stored(&target)?), url.to_string());
            return Ok(Self { http, address, is_broker: false });
        }
        let found = connection::find(data)?;
        let url = found.landscape.join("/reconciler/v1").context("the landscape has no address")?;
        let http = Http::new(RECONCILER, url.clone(), Limits::DEFAULT)?;
        let http = http.with_token(token_source(found)?).renewing_refused_tokens();
        Ok(Self { http, address: url.to_string(), is_broker: false })
    }

    /// Where kubeconfigs of runtimes are: at the broker, unless the settings say otherwise.
    pub(crate) fn connect_to_kubeconfigs(data: Option<&Path>) -> anyhow::Result<Self> {
        match remote::target(data)? {
            Some(target) if target.kubeconfigs.is_some() => {
                let url = target.kubeconfigs.clone().unwrap_or_else(|| target.server.clone());
                let http =
                    Http::new(Component("kubeconfig service"), url.clone(), Limits::DEFAULT)?;
                let (http, address) = (http.with_token(stored(&target)?), url.to_string());
                Ok(Self { http, address, is_broker: false })
            }
            _ => Self::connect(data),
        }
    }

    /// The same for the landscape's control API.
    pub(crate) fn connect_to_landscape(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            anyhow::bail!(
                "{} is no control plane of this machine: it has no landscape",
                target.server
            );
        }
        let found = connection::find(data)?;
        let address = found.landscape.to_string();
        let http = Http::new(LANDSCAPE, found.landscape.clone(), Limits::DEFAULT)?;
        let http = http.with_token(token_source(found)?).renewing_refused_tokens();
        Ok(Self { http, address, is_broker: false })
    }

    /// Whether it can be asked for runtimes.
    pub(crate) fn has_runtimes(&self) -> bool {
        self.is_broker
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

    /// Has the control API change something; null if it has nothing to say.
    pub(crate) async fn change(
        &self,
        doing: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let request = self.http.request(method, &format!("/landscape{path}"));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let text = self.reached(self.http.send(doing, request).await)?.text()?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
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

    /// How long operations of a kind and their steps usually take.
    pub(crate) async fn usual(&self, kind: &str) -> anyhow::Result<Value> {
        let query = [("kind", kind), ("hours", "168"), ("limit", "500")];
        self.send("reading usual times", self.http.get("/answers/steps").query(&query)).await
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

/// A token for the control plane that is valid for a while.
pub(crate) async fn token(data: Option<&Path>) -> anyhow::Result<SecretString> {
    if let Some(target) = remote::target(data)? {
        return stored(&target)?.token().await.context("no token is stored");
    }
    let found = connection::find(data)?;
    let address = found.landscape.clone();
    let source = token_source(found)?;
    source.token().await.with_context(|| format!("no token from the issuer at {address}"))
}

/// The stored token of a control plane elsewhere, as `remote::prepare` left it: this client does not renew it.
fn stored(target: &Context) -> anyhow::Result<Arc<TokenSource>> {
    let login = tokens::read(target)?.context("not logged in: kcp login")?;
    let endpoint = target.server.clone();
    let grant = Grant::Password {
        client: target.client_id.clone(),
        user: String::new(),
        password: SecretString::default(),
    };
    let clock = Clock::running();
    let until = clock.now() + NEVER;
    Ok(TokenSource::new(endpoint, grant, clock)?.starting_with(login.bearer().clone(), until))
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
