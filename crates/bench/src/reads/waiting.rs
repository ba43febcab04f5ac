//! `kcp bench fleet`: what runtimes cost that wait in one orchestration, and how long it takes to start, pause and count it.
//!
//! What a reader would get wrong: the runtimes are generated and none is upgraded, because the orchestration begins tomorrow. What is
//! measured is the broker: its memory, and its answers over HTTP.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use base::Clock;
use reqwest::{Client, Method};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Options,
    generate::{Generator, with_upgradable},
    service::Service,
};
use crate::{figures::median, process};

/// How long it may take until all runtimes are chosen.
const PATIENCE: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_millis(100);
/// The goals: memory in MiB, answers in milliseconds.
const MEMORY: f64 = 100.0;
const ANSWER: f64 = 100.0;

/// One request, and how long its answers took.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The request.
    pub request: &'static str,
    /// The middle value, in milliseconds.
    pub median: f64,
    /// The largest, in milliseconds.
    pub most: f64,
}

/// The measured values.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// How many runtimes wait.
    pub waiting: u64,
    /// From the order until all of them were chosen, in seconds.
    pub chosen_in: f64,
    /// The memory of the broker before the order and while all wait, in MiB.
    pub memory: [f64; 2],
    /// The most memory that the broker had, in MiB.
    pub most_memory: f64,
    /// The requests.
    pub answers: Vec<Answer>,
    /// How the program was built.
    pub profile: &'static str,
}

struct Reader<'a> {
    http: Client,
    service: &'a Service,
}

/// Fills a database, orders an upgrade of everything for tomorrow, and asks.
pub async fn run(options: Options) -> anyhow::Result<Figures> {
    let mut service = Service::prepare(&options).await?;
    let template = service.template().await?;
    let count = with_upgradable(options.instances);
    eprintln!("generating {count} instances");
    service.fill(&Generator::new(template, count)).await?;
    service.start().await?;
    let asking = Reader { http: Client::new(), service: &service };
    // The first request fetches the keys of the issuer.
    asking.ask(Method::GET, "/orchestrations", None).await?;
    let before = process::memory(service.process()?)?.0;
    let began = Instant::now();
    let (started, created) = asking.ask(Method::POST, "/upgrade/kyma", Some(&order()?)).await?;
    let id = created["orchestrationID"].as_str().context("there is no orchestration")?;
    let path = format!("/orchestrations/{id}");
    let waiting = asking.until_chosen(&path).await?;
    ensure!(waiting >= options.instances as u64, "only {waiting} runtimes wait");
    let chosen_in = began.elapsed().as_secs_f64();
    eprintln!("asking");
    let mut answers = vec![answer("start", &[started])];
    answers.extend(asking.measure(&path, options.times).await?);
    let (after, most_memory) = process::memory(service.process()?)?;
    Ok(Figures {
        waiting,
        chosen_in,
        memory: [before, after],
        most_memory,
        answers,
        profile: if cfg!(debug_assertions) { "dev" } else { "release" },
    })
}

/// An upgrade of everything that begins tomorrow.
fn order() -> anyhow::Result<Value> {
    let tomorrow = Clock::running().now().checked_add(Duration::from_hours(24))?;
    Ok(json!({
        "targets": { "include": [{ "target": "all" }] },
        "strategy": {
            "type": "parallel", "schedule": tomorrow.to_string(), "parallel": { "workers": 20 },
            "canary": 10, "failureBudget": "10%",
        },
        "kyma": {},
    }))
}

impl Reader<'_> {
    /// The answer, and how long it took, in milliseconds.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<(f64, Value)> {
        let url = format!("{}{path}", self.service.address());
        let request = self.http.request(method, url);
        let request = request.bearer_auth(self.service.token().expose_secret());
        let request = if let Some(body) = body { request.json(body) } else { request };
        let began = Instant::now();
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        let took = began.elapsed().as_secs_f64() * 1e3;
        ensure!(status.is_success(), "{path} is answered with {status}: {text}");
        Ok((took, serde_json::from_str(&text)?))
    }

    /// How many runtimes wait, once all are chosen.
    async fn until_chosen(&self, path: &str) -> anyhow::Result<u64> {
        let began = Instant::now();
        loop {
            let (_, found) = self.ask(Method::GET, path, None).await?;
            if found["state"] == "in progress" {
                return found["operationStats"]["pending"].as_u64().context("nobody waits");
            }
            ensure!(began.elapsed() < PATIENCE, "the runtimes are not chosen: {found}");
            Clock::running().sleep(LOOK).await;
        }
    }

    async fn measure(&self, path: &str, times: usize) -> anyhow::Result<Vec<Answer>> {
        let workers = json!({ "workers": 30 });
        let requests: [(&'static str, Method, String, Option<&Value>); 7] = [
            ("counts", Method::GET, path.to_owned(), None),
            ("progress", Method::GET, format!("{path}/progress"), None),
            ("pause", Method::PUT, format!("{path}/pause"), None),
            ("resume", Method::PUT, format!("{path}/resume"), None),
            ("other workers", Method::PATCH, format!("{path}/workers"), Some(&workers)),
            ("first hundred", Method::GET, format!("{path}/operations?page_size=100"), None),
            ("orchestrations", Method::GET, "/orchestrations".to_owned(), None),
        ];
        let mut took = vec![Vec::new(); requests.len()];
        for _ in 0..times.max(1) {
            for (at, (_, method, path, body)) in requests.iter().enumerate() {
                took[at].push(self.ask(method.clone(), path, *body).await?.0);
            }
        }
        Ok(requests.iter().zip(took).map(|(request, took)| answer(request.0, &took)).collect())
    }
}

fn answer(request: &'static str, took: &[f64]) -> Answer {
    let most = took.iter().copied().fold(0.0, f64::max);
    Answer { request, median: median(took), most }
}

impl Figures {
    /// The heads of the columns.
    pub const HEAD: [&str; 4] = ["request", "median ms", "most ms", "within 100 ms"];

    /// One line per request, as cells under [`Figures::HEAD`].
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |it: &Answer| {
            let within = if it.median <= ANSWER { "yes" } else { "no" };
            let (median, most) = (format!("{:.1}", it.median), format!("{:.1}", it.most));
            vec![it.request.to_owned(), median, most, within.to_owned()]
        };
        self.answers.iter().map(row).collect()
    }

    /// The summary below the table.
    pub fn summary(&self) -> String {
        let [before, after] = self.memory;
        let within = if after <= MEMORY { "within" } else { "not within" };
        format!(
            "{} runtimes wait in one orchestration, chosen in {:.1} s; {} build\n\
             memory of the broker: {before:.0} MiB before, {after:.0} MiB while they wait ({within} {MEMORY:.0} MiB), {:.0} MiB at most\n",
            self.waiting, self.chosen_in, self.profile, self.most_memory,
        )
    }
}
