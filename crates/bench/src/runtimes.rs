//! `kcp bench runtimes`: many runtimes at once through the provisioner's API, from outside.
//!
//! What a reader would get wrong: nothing here is judged. The figures are those of a whole control plane
//! with its simulated landscape on one machine; they stand beside the reference's limits in the docs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use base::Clock;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

/// How many requests are under way at once.
const AT_ONCE: usize = 64;
/// How long all of them may take.
const PATIENCE: Duration = Duration::from_mins(20);
/// How often the statuses are asked for.
const EVERY: Duration = Duration::from_secs(1);
/// How often a call is made again that the provisioner could not serve just then.
const TRIES: usize = 20;

const PROVISION: &str = "
    mutation ($config: ProvisionRuntimeInput!) {
        result: provisionRuntime(config: $config) { id runtimeID }
    }";
const DEPROVISION: &str = "mutation ($id: String!) { result: deprovisionRuntime(id: $id) }";
const STATUS: &str = "
    query ($id: String!) { result: runtimeOperationStatus(id: $id) { state message } }";

/// Where a provisioner answers, and how many runtimes it is to make.
#[derive(Debug, Clone)]
pub struct Load {
    pub provisioner: String,
    /// A token that opens it.
    pub token: SecretString,
    /// How many.
    pub runtimes: usize,
    /// A release of Kyma to install in each; nothing when absent.
    pub kyma: Option<String>,
}

/// The measured values.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How many runtimes there were.
    pub runtimes: usize,
    /// How long the answers to the orders took, in the middle.
    pub accepted_median: Duration,
    /// How long the answers to the orders took, all but the slowest hundredth.
    pub accepted_p99: Duration,
    /// From the first order until the last runtime was there.
    pub made_in: Duration,
    /// From the first removal until the last runtime was gone.
    pub removed_in: Duration,
    /// How many calls could not be served just then and were made again.
    pub again: usize,
}

/// A caller of the API.
#[derive(Clone)]
struct Caller {
    http: reqwest::Client,
    load: Arc<Load>,
    /// How many calls were made again.
    again: Arc<AtomicUsize>,
}

/// Makes all runtimes, waits until all are there, removes them again.
pub async fn run(load: Load) -> anyhow::Result<Figures> {
    let caller =
        Caller { http: reqwest::Client::new(), load: Arc::new(load), again: Arc::default() };
    let count = caller.load.runtimes;
    let began = Instant::now();
    let orders = caller.each((0..count).map(|at| (PROVISION, caller.order(at))).collect()).await?;
    let ids = |field: &str| -> anyhow::Result<Vec<String>> {
        let text = |(_, answer): &(Duration, Value)| Some(answer[field].as_str()?.to_owned());
        orders.iter().map(text).collect::<Option<_>>().context("an order has no id")
    };
    let (operations, runtimes) = (ids("id")?, ids("runtimeID")?);
    caller.all_end(operations).await?;
    let made_in = began.elapsed();

    let began = Instant::now();
    let removals = runtimes.into_iter().map(|id| (DEPROVISION, json!({"id": id}))).collect();
    let removals = caller.each(removals).await?;
    let operations = removals.into_iter().filter_map(|(_, id)| Some(id.as_str()?.to_owned()));
    caller.all_end(operations.collect()).await?;
    let removed_in = began.elapsed();

    let mut took: Vec<Duration> = orders.into_iter().map(|(took, _)| took).collect();
    took.sort();
    let at = |part: usize| took[((count * part).div_ceil(100)).clamp(1, count) - 1];
    let again = caller.again.load(Ordering::Relaxed);
    let (accepted_median, accepted_p99) = (at(50), at(99));
    Ok(Figures { runtimes: count, accepted_median, accepted_p99, made_in, removed_in, again })
}

impl Caller {
    fn order(&self, at: usize) -> Value {
        let zone = json!({
            "name": "eu-central-1a", "workerCidr": "10.250.0.0/19",
            "publicCidr": "10.250.32.0/20", "internalCidr": "10.250.48.0/20",
        });
        let provider = json!({"awsConfig": {"vpcCidr": "10.250.0.0/16", "awsZones": [zone]}});
        let kyma = self.load.kyma.as_ref().map(|version| json!({"version": version}));
        json!({"config": {
            "runtimeInput": {"name": format!("bench-{at}")},
            "clusterConfig": {"gardenerConfig": {
                "name": format!("b-{at}"), "provider": "aws", "targetSecret": "aws-shared-1",
                "region": "eu-central-1", "workerCidr": "10.250.0.0/16",
                "providerSpecificConfig": provider,
            }},
            "kymaConfig": kyma,
        }})
    }

    /// Asks as clients of the API do: a code from 400 to 499 is final, everything else is tried again,
    /// under the same key.
    async fn ask(&self, query: &str, variables: Value) -> anyhow::Result<Value> {
        let (clock, key) = (Clock::running(), uuid::Uuid::now_v7().to_string());
        let body = json!({"query": query, "variables": variables});
        for _ in 0..TRIES {
            let asked = self
                .http
                .post(format!("{}/graphql", self.load.provisioner))
                .bearer_auth(self.load.token.expose_secret())
                .header("tenant", "bench")
                .header("idempotency-key", &key)
                .json(&body);
            let answer: Value = asked.send().await?.json().await?;
            let error = &answer["errors"][0];
            let Some(text) = error["message"].as_str() else {
                return Ok(answer["data"]["result"].clone());
            };
            let code = error["extensions"]["error_code"].as_i64().unwrap_or_default();
            if (400..500).contains(&code) {
                bail!("the provisioner refuses: {text}");
            }
            self.again.fetch_add(1, Ordering::Relaxed);
            clock.sleep(EVERY).await;
        }
        bail!("the provisioner cannot be had")
    }

    /// Asks all of it, so many at once; how long each took, and its answer, in order.
    async fn each(
        &self,
        all: Vec<(&'static str, Value)>,
    ) -> anyhow::Result<Vec<(Duration, Value)>> {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for (at, (query, variables)) in all.into_iter().enumerate() {
            let (caller, turns) = (self.clone(), turns.clone());
            tasks.spawn(async move {
                let _turn = turns.acquire().await?;
                let began = Instant::now();
                let answer = caller.ask(query, variables).await?;
                anyhow::Ok((at, began.elapsed(), answer))
            });
        }
        let mut answers = Vec::new();
        while let Some(answer) = tasks.join_next().await {
            answers.push(answer??);
        }
        answers.sort_by_key(|(at, ..)| *at);
        Ok(answers.into_iter().map(|(_, took, answer)| (took, answer)).collect())
    }

    /// Waits until all operations have succeeded.
    async fn all_end(&self, mut operations: Vec<String>) -> anyhow::Result<()> {
        let (clock, began) = (Clock::running(), Instant::now());
        while !operations.is_empty() {
            let asked = operations.iter().map(|id| (STATUS, json!({"id": id}))).collect();
            let mut left = Vec::new();
            for (id, (_, status)) in operations.into_iter().zip(self.each(asked).await?) {
                match status["state"].as_str() {
                    Some("Succeeded") => {}
                    Some("InProgress") => left.push(id),
                    other => bail!("operation {id} is {other:?}: {}", status["message"]),
                }
            }
            operations = left;
            if began.elapsed() > PATIENCE {
                bail!("{} operations do not end", operations.len());
            }
            clock.sleep(EVERY).await;
        }
        Ok(())
    }
}

impl Figures {
    /// The figures, for people.
    pub fn text(&self) -> String {
        let rate = |time: Duration| {
            #[expect(clippy::cast_precision_loss, reason = "a count of runtimes is small")]
            let count = self.runtimes as f64;
            count / time.as_secs_f64()
        };
        format!(
            "{} runtimes: order accepted in {:.1} ms (median), {:.1} ms (p99); all there after {:.1} s \
             ({:.1} per second); all gone after {:.1} s ({:.1} per second); {} calls made again\n",
            self.runtimes,
            self.accepted_median.as_secs_f64() * 1e3,
            self.accepted_p99.as_secs_f64() * 1e3,
            self.made_in.as_secs_f64(),
            rate(self.made_in),
            self.removed_in.as_secs_f64(),
            rate(self.removed_in),
            self.again,
        )
    }
}
