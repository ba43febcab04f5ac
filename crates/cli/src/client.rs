//! The operator's calls to the broker, and to the landscape.

mod bindings;
mod mothership;
mod orchestrations;
mod orders;
mod platform;

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::Context as _;
use base::Clock;
use clients::{Component, Grant, Http, Kind, TokenSource, http::CallLimits};
use domain::OperationId;
use reqwest::{Method, RequestBuilder};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

pub(crate) use bindings::binding_path;
pub(crate) use orders::{InstanceChange, order_path};

use crate::{
    call_error::CallError,
    connection::{self, Connection},
    remote::{self, config::Context, tokens},
};

/// The public client under which people log in.
const PEOPLE: &str = "kcp";
/// The simulated outside world.
const LANDSCAPE: Component = Component("landscape");
/// Longer than any command runs.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);
/// The Reconciler, which installs Kyma.
const RECONCILER: Component = Component("reconciler");
/// The URL that serves the kubeconfigs of runtimes, if it is not the broker.
const KUBECONFIGS: Component = Component("kubeconfig service");

/// Speaks to one control plane.
pub(crate) struct Client {
    http: Http,
    address: String,
    /// The login there; none for the control plane of this machine.
    login: Option<StoredLogin>,
    /// Knows the names of what another service works on.
    broker: Option<Box<Self>>,
    /// Speaks to `/oauth`, where the settings name a client for it.
    orders: Option<platform::Orders>,
}

/// A login that is kept in a file, and the token of it that is sent.
struct StoredLogin {
    target: Context,
    source: Arc<TokenSource>,
}

impl Client {
    /// Finds the control plane; nothing is sent yet.
    pub(crate) fn connect(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            return Self::elsewhere(Component::BROKER, &target.server, &target);
        }
        let found = connection::find(data)?;
        Self::here(Component::BROKER, found.broker.clone(), found)
    }

    /// The same for the provisioner. Names of runtimes are looked up at the broker.
    pub(crate) fn connect_to_provisioner(data: Option<&Path>) -> anyhow::Result<Self> {
        let client = Self::provisioner(data)?;
        Ok(Self { broker: Some(Box::new(Self::connect(data)?)), ..client })
    }

    fn provisioner(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            let Some(url) = &target.provisioner else {
                anyhow::bail!(
                    "the context names no provisioner: kcp context add --provisioner URL"
                );
            };
            return Self::elsewhere(Component::PROVISIONER, url, &target);
        }
        let found = connection::find(data)?;
        Self::here(Component::PROVISIONER, found.provisioner.clone(), found)
    }

    /// The same for the Reconciler, as operators see it.
    pub(crate) fn connect_to_mothership(data: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(target) = remote::target(data)? {
            let Some(url) = &target.mothership else {
                anyhow::bail!(
                    "the context names no Reconciler: kcp context add --mothership URL, or mothership-api-url \
                     in the known client's settings"
                );
            };
            return Self::elsewhere(RECONCILER, url, &target);
        }
        let found = connection::find(data)?;
        let url = found
            .landscape
            .join("/reconciler/v1")
            .context("the connection file has no address of the landscape")?;
        Self::here(RECONCILER, url, found)
    }

    /// Where kubeconfigs of runtimes are: at the broker, unless the settings say otherwise.
    pub(crate) fn connect_to_kubeconfigs(data: Option<&Path>) -> anyhow::Result<Self> {
        let target = remote::target(data)?;
        match target.as_ref().and_then(|target| Some((target, target.kubeconfigs.as_ref()?))) {
            Some((target, url)) => Self::elsewhere(KUBECONFIGS, url, target),
            None => Self::connect(data),
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
        Self::here(LANDSCAPE, found.landscape.clone(), found)
    }

    /// A component of a control plane elsewhere.
    fn elsewhere(component: Component, url: &Url, target: &Context) -> anyhow::Result<Self> {
        let http = Http::new(component, url.clone(), CallLimits::DEFAULT)?;
        let source = stored(target)?;
        let http = http.with_token(source.clone());
        let orders = target.orders.as_ref().filter(|_| component == Component::BROKER);
        let orders = orders.map(|client| platform::Orders::new(&http, client)).transpose()?;
        let login = Some(StoredLogin { target: target.clone(), source });
        Ok(Self { http, address: url.to_string(), login, broker: None, orders })
    }

    /// A component of the control plane of this machine.
    fn here(component: Component, url: Url, found: Connection) -> anyhow::Result<Self> {
        let address = url.to_string();
        let http = Http::new(component, url, CallLimits::DEFAULT)?;
        let http = http.with_token(token_source(found)?).renewing_refused_tokens();
        Ok(Self { http, address, login: None, broker: None, orders: None })
    }

    /// The address that is called.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is the control plane of this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.login.is_none()
    }

    /// Whether it can be asked for runtimes.
    pub(crate) fn has_runtimes(&self) -> bool {
        self.http.component() == Component::BROKER
    }

    /// Where names of runtimes are looked up, if anywhere.
    pub(crate) fn broker(&self) -> Option<&Self> {
        if self.has_runtimes() { Some(self) } else { self.broker.as_deref() }
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

    /// The events of instances.
    pub(crate) async fn events(&self, instances: &[&str]) -> anyhow::Result<Value> {
        let whose = match instances {
            [one] => (*one).to_owned(),
            several => format!("{} instances", several.len()),
        };
        let request = self.http.get("/events").query(&[("instance_ids", instances.join(","))]);
        self.send(&format!("reading the events of {whose}"), request).await
    }

    /// Whether the audit is what it was.
    pub(crate) async fn verify_audit(&self) -> anyhow::Result<Value> {
        self.send("verifying the audit", self.http.get("/audit/verify")).await
    }

    /// A page of leftovers, after an instance.
    pub(crate) async fn leftovers(&self, after: Option<&str>) -> anyhow::Result<Value> {
        let query: Vec<(&str, &str)> = after.map(|after| ("after", after)).into_iter().collect();
        self.send("listing what is left", self.http.get("/leftovers").query(&query)).await
    }

    /// A page of objects that may exist, after an entry.
    pub(crate) async fn may_exist(&self, after: Option<&str>) -> anyhow::Result<Value> {
        let query: Vec<(&str, &str)> = after.map(|after| ("after", after)).into_iter().collect();
        self.send("listing what may exist", self.http.get("/may-exist").query(&query)).await
    }

    /// Takes an entry off that list.
    pub(crate) async fn settle(&self, id: &Uuid) -> anyhow::Result<()> {
        let request = self.http.delete(&format!("/may-exist/{id}"));
        self.reached(self.http.send(&format!("settling {id}"), request).await).map(drop)
    }

    /// The status of operations and of the account pool.
    pub(crate) async fn status(&self) -> anyhow::Result<Value> {
        self.send("reading the status", self.http.get("/answers/status")).await
    }

    /// How long operations of a kind and their steps usually take.
    pub(crate) async fn usual(&self, kind: &str) -> anyhow::Result<Value> {
        let query = [("kind", kind), ("hours", "168"), ("limit", "500")];
        self.send("reading usual times", self.http.get("/answers/steps").query(&query)).await
    }

    /// How steps went in operations that ended in the last hours: the slowest first, or those that fail most.
    pub(crate) async fn step_reports(&self, hours: u32, failing: bool) -> anyhow::Result<Value> {
        let order = if failing { "failing" } else { "slowest" };
        let query =
            [("hours", hours.to_string()), ("order", order.into()), ("limit", "500".into())];
        self.send("reading how steps went", self.http.get("/answers/steps").query(&query)).await
    }

    /// How many operations ended well, by day, plan and kind.
    pub(crate) async fn success(&self, days: u32) -> anyhow::Result<Value> {
        let request = self.http.get("/answers/success").query(&[("days", days)]);
        self.send("reading how operations ended", request).await
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

    /// Details of a run of a job, from a position on.
    pub(crate) async fn job_details(
        &self,
        name: &str,
        operation: &str,
        after: u64,
    ) -> anyhow::Result<Value> {
        let path = format!(
            "/jobs/{}/details?operation={operation}&limit=1000&after={after}",
            in_path(name)?
        );
        self.send(&format!("looking at a run of job {name}"), self.http.get(&path)).await
    }

    /// Starts a run of a job.
    pub(crate) async fn run_job(&self, name: &str, dry_run: bool) -> anyhow::Result<Value> {
        let request = self.http.post(&format!("/jobs/{}/run", in_path(name)?));
        let request = request.json(&json!({ "dry_run": dry_run }));
        self.send(&format!("starting job {name}"), request).await
    }

    async fn send(&self, doing: &str, request: RequestBuilder) -> anyhow::Result<Value> {
        if let Some(login) = &self.login {
            login.renew().await?;
        }
        let answer = self.http.send(doing, request).await;
        self.reached(answer.and_then(|answer| answer.json()))
    }

    fn reached<T>(&self, answer: Result<T, clients::Error>) -> anyhow::Result<T> {
        Ok(answer.map_err(|error| {
            // The token comes from elsewhere.
            let is_own = error.component == self.http.component();
            let address = is_own.then(|| self.address.clone());
            let login = self.login.as_ref().map(|login| login.target.login_command());
            CallError { error, address, login, advice: None }
        })?)
    }
}

/// Whether a call failed because the broker does not have its route: the original lacks those that we have added.
pub(crate) fn is_no_route(error: &anyhow::Error) -> bool {
    let failed = error.downcast_ref::<CallError>();
    failed.is_some_and(|failed| lacks_route(failed.error.kind))
}

const fn lacks_route(kind: Kind) -> bool {
    matches!(kind, Kind::NotFound | Kind::Refused { status: 405 })
}

/// The answer; none from a broker without the route.
fn from_route<T>(answer: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match answer {
        Err(error) if is_no_route(&error) => Ok(None),
        answer => answer.map(Some),
    }
}

/// A name as one segment of a path.
fn in_path(name: &str) -> anyhow::Result<String> {
    clients::http::segment(name).with_context(|| format!("invalid name \"{name}\""))
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

impl StoredLogin {
    /// Renews the login when its token runs out: what is watched may take longer than a token lives.
    async fn renew(&self) -> anyhow::Result<()> {
        let login = Box::pin(remote::fresh(&self.target)).await?;
        let source = self.source.clone();
        let _ = source.starting_with(login.bearer().clone(), Clock::running().now() + NEVER);
        Ok(())
    }
}

/// The stored token of a control plane elsewhere, as `remote::prepare` left it.
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
    let endpoint = found
        .landscape
        .join("/oauth2/token")
        .context("the connection file has no address of the landscape")?;
    let until = found.token_until();
    let grant =
        Grant::Password { client: PEOPLE.into(), user: found.user, password: found.password };
    let source = TokenSource::new(endpoint, grant, Clock::running())?;
    Ok(match until {
        Some(until) => source.starting_with(found.token, until),
        None => source,
    })
}
