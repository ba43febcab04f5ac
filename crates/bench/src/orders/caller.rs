//! A platform that orders at any replica, and asks another one when nobody answers.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use base::Clock;
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use super::fleet::Fleet;

/// How many requests are under way at once while polling; orders are all sent at once.
const LOOKING: usize = 32;
/// How long all operations may take.
const PATIENCE: Duration = Duration::from_mins(20);
/// How often operations are looked at.
const EVERY: Duration = Duration::from_secs(1);
/// How long a platform waits before it asks another replica.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a request is made again.
const TRIES: usize = 300;
/// How many global accounts order.
const ACCOUNTS: usize = 10;

const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
const PLAN: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";

/// A platform. Clones are the same one.
#[derive(Clone)]
pub(super) struct Caller(Arc<Inner>);

struct Inner {
    http: reqwest::Client,
    replicas: Vec<String>,
    landscape: String,
    token: SecretString,
    next: AtomicUsize,
    again: AtomicUsize,
}

impl Caller {
    pub(super) fn new(fleet: &Fleet) -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Inner {
            http: reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?,
            replicas: fleet.addresses(),
            landscape: fleet.landscape().to_owned(),
            token: fleet.token().clone(),
            next: AtomicUsize::new(0),
            again: AtomicUsize::new(0),
        })))
    }

    /// How many requests were made again.
    pub(super) fn again(&self) -> usize {
        self.0.again.load(Ordering::Relaxed)
    }

    /// Sends these orders at once; how long the answer to each took.
    pub(super) async fn order(&self, which: Range<usize>) -> anyhow::Result<Vec<Duration>> {
        let count = which.len();
        self.each(which, count, |caller, at| async move {
            let began = Instant::now();
            let body = json!({
                "service_id": SERVICE,
                "plan_id": PLAN,
                "context": {
                    "platform": "kyma",
                    "globalaccount_id": format!("bench-{}", at % ACCOUNTS),
                    "subaccount_id": format!("bench-sub-{at}"),
                    "user_id": "bench@example.test",
                },
                "parameters": {"name": format!("bench-{at}"), "region": "eu-central-1"},
            });
            let path = format!("{}?accepts_incomplete=true", instance(at));
            let (status, answer) = caller.ask(Method::PUT, &path, Some(&body)).await?;
            match status {
                StatusCode::ACCEPTED | StatusCode::OK => Ok(began.elapsed()),
                _ => bail!("order {at} is answered with {status}: {answer}"),
            }
        })
        .await
    }

    /// Changes these instances at once.
    pub(super) async fn update(&self, which: Range<usize>) -> anyhow::Result<()> {
        let count = which.len();
        let change = |caller: Self, at| async move { caller.change(at, 9).await.map(drop) };
        self.each(which, count, change).await.map(drop)
    }

    /// Changes one instance so many times, one request after the other, and waits until all of the operations have succeeded.
    pub(super) async fn update_one(&self, at: usize, times: usize) -> anyhow::Result<()> {
        let mut operations = BTreeSet::new();
        for time in 0..times {
            let most = 5 + time % 75;
            operations.insert(self.change(at, most).await?);
        }
        let (clock, began) = (Clock::running(), Instant::now());
        while let Some(operation) = operations.first().cloned() {
            let path = format!("{}/last_operation?operation={operation}", instance(at));
            let (status, answer) = self.ask(Method::GET, &path, None).await?;
            match (status, answer["state"].as_str()) {
                (StatusCode::OK, Some("succeeded")) => drop(operations.pop_first()),
                (StatusCode::OK, Some("in progress")) => clock.sleep(PAUSE).await,
                _ => bail!("change {operation} is {status}: {answer}"),
            }
            if began.elapsed() > PATIENCE {
                bail!("{} changes do not end", operations.len());
            }
        }
        Ok(())
    }

    /// Changes the most nodes of an instance; the operation that does.
    async fn change(&self, at: usize, most: usize) -> anyhow::Result<String> {
        let body = json!({"service_id": SERVICE, "parameters": {"autoScalerMax": most}});
        let path = format!("{}?accepts_incomplete=true", instance(at));
        let (status, answer) = self.ask(Method::PATCH, &path, Some(&body)).await?;
        match (status, answer["operation"].as_str()) {
            (StatusCode::ACCEPTED, Some(operation)) => Ok(operation.to_owned()),
            _ => bail!("change of {at} is answered with {status}: {answer}"),
        }
    }

    /// Orders the removal of these instances at once.
    pub(super) async fn remove(&self, which: Range<usize>) -> anyhow::Result<()> {
        let count = which.len();
        self.each(which, count, |caller, at| async move {
            let path = format!(
                "{}?accepts_incomplete=true&service_id={SERVICE}&plan_id={PLAN}",
                instance(at)
            );
            let (status, answer) = caller.ask(Method::DELETE, &path, None).await?;
            match status {
                StatusCode::ACCEPTED | StatusCode::OK | StatusCode::GONE => Ok(()),
                _ => bail!("removal {at} is answered with {status}: {answer}"),
            }
        })
        .await
        .map(drop)
    }

    /// Waits until the last operation of every instance has succeeded.
    pub(super) async fn all_succeed(&self, which: Range<usize>) -> anyhow::Result<()> {
        let (clock, began) = (Clock::running(), Instant::now());
        let mut left: BTreeSet<usize> = which.collect();
        while !left.is_empty() {
            let asked = self.each(left.iter().copied(), LOOKING, |caller, at| async move {
                let path = format!("{}/last_operation", instance(at));
                Ok((at, caller.ask(Method::GET, &path, None).await?))
            });
            for (at, (status, answer)) in asked.await? {
                match (status, answer["state"].as_str()) {
                    (StatusCode::OK, Some("in progress")) => {}
                    (StatusCode::GONE, _) | (StatusCode::OK, Some("succeeded")) => {
                        left.remove(&at);
                    }
                    _ => bail!("instance {at} is {status}: {answer}"),
                }
            }
            if began.elapsed() > PATIENCE {
                bail!("{} operations do not end", left.len());
            }
            clock.sleep(EVERY).await;
        }
        Ok(())
    }

    /// How many clusters the garden still has.
    pub(super) async fn clusters_left(&self) -> anyhow::Result<usize> {
        Ok(self.objects("gardener", "shoot").await?.len())
    }

    /// How many clusters were ever made.
    pub(super) async fn clusters_made(&self) -> anyhow::Result<usize> {
        let mut made = BTreeSet::new();
        for entry in self.changes("gardener").await? {
            let route = entry["route"].as_str().unwrap_or_default();
            if entry["method"] == "POST" && route.ends_with("/shoots") {
                let fresh = made.insert(entry["object"].as_str().map(str::to_owned));
                anyhow::ensure!(fresh, "{} was made twice", entry["object"]);
            }
        }
        Ok(made.len())
    }

    async fn look(&self, path: &str) -> anyhow::Result<Value> {
        let Inner { http, landscape, token, .. } = &*self.0;
        let asked = http.get(format!("{landscape}{path}")).bearer_auth(token.expose_secret());
        Ok(asked.send().await?.error_for_status()?.json().await?)
    }

    /// Tells a system of the landscape to behave otherwise.
    pub(super) async fn tell_landscape(
        &self,
        system: &str,
        order: &str,
        with: &Value,
    ) -> anyhow::Result<()> {
        let Inner { http, landscape, token, .. } = &*self.0;
        let url = format!("{landscape}/landscape/systems/{system}/orders/{order}");
        let asked = http.post(url).json(with).bearer_auth(token.expose_secret());
        asked.send().await?.error_for_status()?;
        Ok(())
    }

    /// Every line of the ledger about a change in a system.
    pub(super) async fn changes(&self, system: &str) -> anyhow::Result<Vec<Value>> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let path = format!("/landscape/ledger?system={system}&phase=applied&limit=1000");
            let page = self.look(&format!("{path}&after={after}")).await?;
            all.extend(page["entries"].as_array().into_iter().flatten().cloned());
            if page["more"] != true {
                return Ok(all);
            }
            after = page["next"].as_u64().context("the ledger does not say where it goes on")?;
        }
    }

    /// The objects of a system of the landscape.
    pub(super) async fn objects(&self, system: &str, kind: &str) -> anyhow::Result<Vec<Value>> {
        let found = self.look(&format!("/landscape/systems/{system}/objects?kind={kind}")).await?;
        Ok(found["objects"].as_array().context("the landscape lists no objects")?.clone())
    }

    /// Calls the platform's API at one replica after the other until one answers.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<(StatusCode, Value)> {
        self.call(method, &format!("/oauth{path}"), body).await
    }

    /// Calls one replica after the other until one answers.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<(StatusCode, Value)> {
        let inner = &*self.0;
        let mut last = String::new();
        for _ in 0..TRIES {
            let at = inner.next.fetch_add(1, Ordering::Relaxed) % inner.replicas.len();
            let url = format!("{}{path}", inner.replicas[at]);
            let asked = inner
                .http
                .request(method.clone(), url)
                .bearer_auth(inner.token.expose_secret())
                .header("x-broker-api-version", "2.16");
            let asked = if let Some(body) = body { asked.json(body) } else { asked };
            match asked.send().await {
                Ok(answer) if !answer.status().is_server_error() => {
                    let status = answer.status();
                    if let Ok(value) = answer.json().await {
                        return Ok((status, value));
                    }
                    "the answer was cut off".clone_into(&mut last);
                }
                Ok(answer) => last = answer.status().to_string(),
                Err(error) => last = error.to_string(),
            }
            inner.again.fetch_add(1, Ordering::Relaxed);
            Clock::running().sleep(PAUSE).await;
        }
        bail!("no replica answers: {last}")
    }

    /// Does it for each number, so many at once.
    async fn each<T, F>(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        at_once: usize,
        mut work: impl FnMut(Self, usize) -> F,
    ) -> anyhow::Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = anyhow::Result<T>> + Send + 'static,
    {
        let turns = Arc::new(Semaphore::new(at_once));
        let mut tasks = JoinSet::new();
        for number in numbers {
            let (turns, work) = (turns.clone(), work(self.clone(), number));
            tasks.spawn(async move {
                let _turn = turns.acquire().await?;
                work.await
            });
        }
        let mut all = Vec::new();
        while let Some(done) = tasks.join_next().await {
            all.push(done??);
        }
        Ok(all)
    }
}

fn instance(at: usize) -> String {
    format!("/v2/service_instances/bench-{at}")
}
