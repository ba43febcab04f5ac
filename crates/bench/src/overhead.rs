//! `kcp bench overhead`: how much longer orders take than the outside systems need for them (B19).
//!
//! What a reader would get wrong: the time of the outside systems is not taken from their settings. It begins with the line of the ledger that
//! says that a system has taken the work, and ends when its object is seen as done; of the time between two looks, half is counted. What several
//! systems do for one order one after the other adds up. Everything else between acceptance and *succeeded* is ours.

mod watching;

use std::{sync::Arc, time::Duration};

use anyhow::{Context, bail, ensure};
use base::Clock;
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};
use uuid::Uuid;

use watching::Jobs;

/// How long all orders may take.
const PATIENCE: Duration = Duration::from_mins(30);
/// How often operations are looked at: their times are those that the broker stored.
const EVERY: Duration = Duration::from_millis(500);

const SERVICE: &str = "47c9dcbf-ff30-448e-ab36-d3bad66ba281";
const PLAN: &str = "361c511f-f939-4621-b228-d0fb79a1fe15";

/// A control plane that runs, and how many orders it gets.
#[derive(Debug, Clone)]
pub struct Load {
    pub broker: String,
    pub landscape: String,
    /// A token that opens both.
    pub token: SecretString,
    /// How many orders.
    pub orders: usize,
    /// How many of them are under way at once.
    pub at_once: usize,
}

/// How long one operation took, and how much of it the outside systems needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationDuration {
    pub all: Duration,
    pub outside: Duration,
}

/// The measured values.
#[derive(Debug, Clone)]
pub struct OverheadSamples {
    pub orders: Vec<OperationDuration>,
    pub removals: Vec<OperationDuration>,
}

/// Orders and removes instances, and compares.
pub async fn run(load: Load) -> anyhow::Result<OverheadSamples> {
    ensure!(load.orders > 0 && load.at_once > 0, "there must be orders");
    let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build()?;
    let side = Arc::new(Side { http, load, clock: Clock::running() });
    let jobs = Jobs::watch(side.clone()).await?;
    let turns = Arc::new(Semaphore::new(side.load.at_once));
    let mut tasks = JoinSet::new();
    for at in 0..side.load.orders {
        let (side, turns) = (side.clone(), turns.clone());
        tasks.spawn(async move {
            let _turn = turns.acquire().await?;
            side.life(at).await
        });
    }
    let mut lives = Vec::new();
    while let Some(life) = tasks.join_next().await {
        lives.push(life??);
    }
    let ended = jobs.ended().await?;
    let mut seen = OverheadSamples { orders: Vec::new(), removals: Vec::new() };
    for life in &lives {
        seen.orders.push(life.made.took(ended.making(&life.instance)?));
        seen.removals.push(life.removed.took(ended.removing(&life.instance)?));
    }
    Ok(seen)
}

/// The two operations of one instance.
struct InstanceSpans {
    instance: String,
    made: Span,
    removed: Span,
}

/// When an operation was accepted, and when it succeeded.
struct Span {
    from: Timestamp,
    until: Timestamp,
}

impl Span {
    fn took(&self, outside: Duration) -> OperationDuration {
        OperationDuration { all: between(self.from, self.until), outside }
    }
}

fn between(from: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}

/// The way to the services.
struct Side {
    http: reqwest::Client,
    load: Load,
    clock: Clock,
}

impl Side {
    async fn life(&self, at: usize) -> anyhow::Result<InstanceSpans> {
        let instance = Uuid::new_v4().to_string();
        let path = format!("/oauth/v2/service_instances/{instance}");
        let body = json!({
            "service_id": SERVICE,
            "plan_id": PLAN,
            "context": {
                "platform": "kyma",
                "globalaccount_id": "bench-overhead",
                "subaccount_id": format!("bench-{instance}"),
                "user_id": "bench@example.test",
            },
            "parameters": {"name": format!("bench-{at}"), "region": "eu-central-1"},
        });
        let order = format!("{path}?accepts_incomplete=true");
        let made = self.operation(Method::PUT, &order, Some(&body)).await?;
        let removal = format!("{path}?accepts_incomplete=true&service_id={SERVICE}&plan_id={PLAN}");
        let removed = self.operation(Method::DELETE, &removal, None).await?;
        Ok(InstanceSpans { instance, made, removed })
    }

    /// Has an operation accepted, and waits until it has succeeded.
    async fn operation(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Span> {
        let broker = &self.load.broker;
        let asked = self.http.request(method, format!("{broker}{path}"));
        let asked = asked
            .bearer_auth(self.load.token.expose_secret())
            .header("x-broker-api-version", "2.16");
        let asked = if let Some(body) = body { asked.json(body) } else { asked };
        let answer = asked.send().await?;
        let (status, answer) = (answer.status(), answer.json::<Value>().await?);
        ensure!(status == StatusCode::ACCEPTED, "an order is answered with {status}: {answer}");
        let id = answer["operation"].as_str().context("the answer names no operation")?;
        let began = self.clock.monotonic();
        loop {
            let operation = self.get(&format!("{broker}/operations/{id}")).await?;
            // Some answers hold the operation, others are it.
            let operation = operation.get("operation").unwrap_or(&operation);
            match operation["state"].as_str() {
                Some("succeeded") => {
                    let (from, until) =
                        (time(operation, "created_at")?, time(operation, "ended_at")?);
                    return Ok(Span { from, until });
                }
                Some("pending" | "in progress") => {}
                _ => bail!("operation {id} does not succeed: {operation}"),
            }
            let waited = self.clock.monotonic().saturating_sub(began);
            ensure!(waited < PATIENCE, "operation {id} does not end");
            self.clock.sleep(EVERY).await;
        }
    }

    async fn get(&self, url: &str) -> anyhow::Result<Value> {
        let asked = self.http.get(url).bearer_auth(self.load.token.expose_secret());
        Ok(asked.send().await?.error_for_status()?.json().await?)
    }

    async fn landscape(&self, path: &str) -> anyhow::Result<Value> {
        self.get(&format!("{}/landscape/{path}", self.load.landscape)).await
    }
}

fn time(value: &Value, field: &str) -> anyhow::Result<Timestamp> {
    let text = value[field].as_str().with_context(|| format!("{field} is missing"))?;
    Ok(text.parse()?)
}

impl OperationDuration {
    /// The overhead.
    pub fn overhead(&self) -> Duration {
        self.all.saturating_sub(self.outside)
    }
}

impl OverheadSamples {
    /// The figures, for people.
    pub fn text(&self) -> String {
        let line = |what: &str, all: &[OperationDuration]| {
            let seconds = |of: fn(&OperationDuration) -> Duration, part| {
                percentile(all, of, part).as_secs_f64()
            };
            let (whole, outside) = (seconds(|took| took.all, 50), seconds(|took| took.outside, 50));
            let (middle, worst) = (
                seconds(OperationDuration::overhead, 50),
                seconds(OperationDuration::overhead, 99),
            );
            format!(
                "{} {what}: {whole:.2} s (median), of which the outside systems needed {outside:.2} s\n  \
                 overhead {middle:.2} s (median), {worst:.2} s (p99); ratio {:.2}\n",
                all.len(),
                whole / outside.max(0.001),
            )
        };
        line("orders", &self.orders) + &line("removals", &self.removals)
    }
}

/// The value that so many percent do not exceed.
pub fn percentile(
    all: &[OperationDuration],
    of: fn(&OperationDuration) -> Duration,
    part: usize,
) -> Duration {
    let mut values: Vec<Duration> = all.iter().map(of).collect();
    values.sort();
    let place = (values.len() * part).div_ceil(100).clamp(1, values.len().max(1)) - 1;
    values.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overhead_is_what_the_outside_systems_did_not_need() {
        let took = |all, outside| OperationDuration {
            all: Duration::from_millis(all),
            outside: Duration::from_millis(outside),
        };
        let all = [took(1_500, 1_000), took(2_000, 2_100), took(4_000, 1_000)];

        assert_eq!(percentile(&all, OperationDuration::overhead, 50), Duration::from_millis(500));
        assert_eq!(percentile(&all, OperationDuration::overhead, 99), Duration::from_secs(3));
        assert_eq!(percentile(&[], OperationDuration::overhead, 50), Duration::ZERO);
    }
}
