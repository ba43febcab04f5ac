//! One run of a job, over HTTP.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use base::Clock;
use reqwest::Client;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{Figure, transactions::Transactions};
use crate::{process, reads::service::Service};

/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a run may take at most.
const PATIENCE: Duration = Duration::from_hours(4);

pub(super) struct Runner {
    service: Service,
    http: Client,
    clock: Clock,
}

impl Runner {
    pub(super) fn new(service: Service) -> Self {
        Self { service, http: Client::new(), clock: Clock::running() }
    }

    /// Runs a job to its end. One that is to be killed is killed as soon as it has acted, goes on after a new start, and
    /// leaves nothing to be done.
    pub(super) async fn run(
        &mut self,
        job: &'static str,
        dry_run: bool,
        killed: bool,
    ) -> anyhow::Result<Figure> {
        let began = Instant::now();
        let mut before = self.memory()?;
        let watch = Transactions::watch(self.service.rows().await?);
        let started = self.start(job, dry_run).await?;
        let mut in_the_middle = false;
        if killed {
            let seen = self.acted(job, dry_run, &started).await?;
            in_the_middle = seen["ended_at"].is_null();
            self.service.kill().await?;
            self.service.start().await?;
            before = self.memory()?;
        }
        let run = self.ended(job, dry_run, &started).await?;
        let memory = process::memory(self.service.process()?)?.1 - before;
        let longest_transaction = watch.longest().await?;
        if killed {
            let rest = self.start(job, true).await?;
            let rest = self.ended(job, true, &rest).await?;
            ensure!(rest["report"]["candidates"] == 0, "{job} has left something: {rest}");
        }
        Ok(Figure {
            job,
            dry_run,
            killed: in_the_middle,
            state: run["state"].as_str().unwrap_or("unknown").to_owned(),
            candidates: run["report"]["candidates"].as_u64().unwrap_or_default(),
            seconds: began.elapsed().as_secs_f64(),
            memory: memory.max(0.0),
            longest_transaction,
        })
    }

    /// How much memory the broker has now; from here on it is counted anew how much it has at most.
    fn memory(&self) -> anyhow::Result<f64> {
        let process = self.service.process()?;
        process::forget_peak(process)?;
        Ok(process::memory(process)?.0)
    }

    /// Starts a run; the id of its operation.
    async fn start(&self, job: &str, dry_run: bool) -> anyhow::Result<Value> {
        let address = format!("{}/jobs/{job}/run", self.service.address());
        let request = self.http.post(address).json(&json!({ "dry_run": dry_run }));
        let token = self.service.token().expose_secret();
        let answer = request.bearer_auth(token).send().await?;
        let (status, body) = (answer.status(), answer.text().await?);
        ensure!(status.is_success(), "{job} is not started: {status} {body}");
        let started: Value = serde_json::from_str(&body)?;
        Ok(started["operation"].clone())
    }

    /// Waits until a run has acted, or has ended.
    async fn acted(&self, job: &str, dry_run: bool, operation: &Value) -> anyhow::Result<Value> {
        let acted = |run: &Value| run["report"]["candidates"].as_u64().unwrap_or_default() > 0;
        self.when(job, dry_run, operation, |run| acted(run) || !run["ended_at"].is_null()).await
    }

    async fn ended(&self, job: &str, dry_run: bool, operation: &Value) -> anyhow::Result<Value> {
        self.when(job, dry_run, operation, |run| !run["ended_at"].is_null()).await
    }

    async fn when(
        &self,
        job: &str,
        dry_run: bool,
        operation: &Value,
        reached: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<Value> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let run = self.look(job, dry_run).await?;
            ensure!(run["operation"] == *operation, "{job}: another run than {operation}: {run}");
            if reached(&run) {
                return Ok(run);
            }
            self.clock.sleep(LOOK).await;
        }
        bail!("{job} has not ended in time")
    }

    async fn look(&self, job: &str, dry_run: bool) -> anyhow::Result<Value> {
        let address = format!("{}/jobs/{job}", self.service.address());
        let request = self.http.get(address).bearer_auth(self.service.token().expose_secret());
        let view: Value = request.send().await?.error_for_status()?.json().await?;
        let run = &view[if dry_run { "last_dry_run" } else { "last_run" }];
        ensure!(run.is_object(), "{job} has no run: {view}");
        Ok(run.clone())
    }
}
