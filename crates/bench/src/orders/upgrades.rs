//! `kcp bench fleet`: an orchestration over runtimes of which some fail, paused and resumed while replicas are killed.
//!
//! What a reader would get wrong: the runtimes that fail are none of the canaries, and fewer than the budget allows, so it ends
//! without pausing by itself. The run fails when a count is wrong at any moment, a runtime is upgraded twice, or a customer is
//! notified twice.

mod checks;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use base::Clock;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Options, caller::Caller, fleet::Fleet};

/// Another version than the one that runtimes are made with.
const VERSION: &str = "2.11.0";
/// How long the orchestration may take.
const PATIENCE: Duration = Duration::from_mins(60);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How the runtimes are upgraded.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How many runtimes at a time.
    pub workers: u64,
    /// How many go first.
    pub canary: usize,
    /// How many of a hundred fail.
    pub failing: usize,
    /// How many of a hundred may fail.
    pub budget: usize,
}

/// The measured values.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// How many runtimes there were.
    pub runtimes: usize,
    /// How many of them failed, as they should.
    pub failed: usize,
    /// How many replicas of the broker there were.
    pub replicas: usize,
    /// From the order until it had ended, in seconds, without the pause.
    pub upgraded_in: f64,
    /// How long it was paused, in seconds.
    pub paused_for: f64,
    /// How often the counts were looked at; they were right each time.
    pub looks: usize,
    /// How many replicas were killed meanwhile.
    pub kills: usize,
    /// How many requests were made again, because nobody answered.
    pub again: usize,
    /// The most memory that a replica of the broker had, in MiB.
    pub broker_memory: f64,
}

/// The orchestration at work.
struct Upgrade<'a> {
    caller: &'a Caller,
    id: String,
    runtimes: usize,
    workers: u64,
    looks: usize,
}

/// Makes the runtimes, upgrades them, and checks the answers and the ledger.
pub async fn run(options: Options, pace: Pace) -> anyhow::Result<Figures> {
    ensure!(options.replicas > 0, "there must be replicas");
    ensure!(options.orders > pace.canary, "there must be more runtimes than canaries");
    ensure!(pace.failing <= pace.budget, "more runtimes fail than the budget allows");
    let fleet = Fleet::start(&options).await?;
    let caller = Caller::new(&fleet)?;
    caller.order(0..options.orders).await?;
    caller.all_succeed(0..options.orders).await?;
    let killing = fleet.kill_now_and_then(options.kill_every);
    let done = tokio::select! {
        done = upgrade(&caller, options.orders, pace) => done,
        died = killing => Err(died),
    };
    let figures = match done {
        Ok(done) => done,
        Err(error) => return Err(error.context(fleet.last_words())),
    };
    Ok(Figures {
        replicas: options.replicas,
        kills: fleet.kills(),
        again: caller.again(),
        broker_memory: fleet.memory().broker,
        ..figures
    })
}

async fn upgrade(caller: &Caller, runtimes: usize, pace: Pace) -> anyhow::Result<Figures> {
    let body = json!({
        "targets": { "include": [{ "target": "all" }] },
        "strategy": {
            "type": "parallel", "schedule": "now", "parallel": { "workers": pace.workers },
            "canary": pace.canary, "failureBudget": format!("{}%", pace.budget),
        },
        "kyma": { "version": VERSION },
    });
    let failing = fail_some(caller, &body, pace.failing, runtimes).await?;
    let began = Instant::now();
    let (status, created) = caller.call(Method::POST, "/upgrade/kyma", Some(&body)).await?;
    ensure!(status == StatusCode::ACCEPTED, "the upgrade is answered with {status}: {created}");
    let id = created["orchestrationID"].as_str().context("there is no orchestration")?;
    let mut upgrade =
        Upgrade { caller, id: id.to_owned(), runtimes, workers: pace.workers, looks: 0 };
    let paused_for = upgrade.pause_in_the_middle().await?;
    let state = upgrade.end().await?;
    let upgraded_in = began.elapsed().saturating_sub(paused_for);
    let expected = if failing.is_empty() { "succeeded" } else { "failed" };
    ensure!(state == expected, "the orchestration is {state} and not {expected}");
    checks::operations(caller, &upgrade.id, runtimes, &failing).await?;
    checks::upgraded_once(caller, runtimes).await?;
    checks::notified_once(caller, &upgrade.id, runtimes).await?;
    Ok(Figures {
        runtimes,
        failed: failing.len(),
        replicas: 0,
        upgraded_in: upgraded_in.as_secs_f64(),
        paused_for: paused_for.as_secs_f64(),
        looks: upgrade.looks,
        kills: 0,
        again: 0,
        broker_memory: 0.0,
    })
}

/// Lets the Reconciler fail with some of the runtimes that are no canaries; which.
async fn fail_some(
    caller: &Caller,
    body: &Value,
    percent: usize,
    runtimes: usize,
) -> anyhow::Result<BTreeSet<String>> {
    let (status, preview) = caller.call(Method::POST, "/upgrade/kyma/preview", Some(body)).await?;
    ensure!(status == StatusCode::OK, "the preview is answered with {status}: {preview}");
    ensure!(preview["count"] == runtimes, "{} runtimes are meant", preview["count"]);
    let all = preview["runtimes"].as_array().context("the preview has no runtimes")?;
    let others = all.iter().filter(|runtime| runtime["canary"] != true);
    let ids = others.filter_map(|runtime| runtime["runtimeID"].as_str());
    let failing: BTreeSet<String> = ids.map(str::to_owned).take(runtimes * percent / 100).collect();
    for id in &failing {
        caller.tell_landscape("reconciler", "fail", &json!({ "id": id, "on": true })).await?;
    }
    Ok(failing)
}

impl Upgrade<'_> {
    /// Pauses when a third is done, waits until nothing runs any more, and resumes; for how long it was paused.
    async fn pause_in_the_middle(&mut self) -> anyhow::Result<Duration> {
        let third = u64::try_from(self.runtimes / 3)?;
        self.until(|it| done(it) >= third || is_final(it)).await?;
        let began = Instant::now();
        self.change("pause").await?;
        let paused = self.until(|it| count(it, "in progress") == 0).await?;
        ensure!(paused["paused"] == true, "it is not paused: {paused}");
        let (before, waiting) = (done(&paused), count(&paused, "pending"));
        ensure!(waiting > 0, "everything was done before it was paused");
        for _ in 0..5 {
            let later = self.look().await?;
            ensure!(done(&later) == before, "something has started while it was paused");
            Clock::running().sleep(LOOK).await;
        }
        self.change("resume").await?;
        Ok(began.elapsed())
    }

    /// How it has ended.
    async fn end(&mut self) -> anyhow::Result<String> {
        let ended = self.until(is_final).await?;
        Ok(ended["state"].as_str().unwrap_or_default().to_owned())
    }

    async fn change(&self, how: &str) -> anyhow::Result<()> {
        let path = format!("/orchestrations/{}/{how}", self.id);
        let (status, answer) = self.caller.call(Method::PUT, &path, None).await?;
        // A replica that was killed may have done it and not answered.
        let done = status == StatusCode::OK || status == StatusCode::CONFLICT;
        ensure!(done, "{how} is answered with {status}: {answer}");
        Ok(())
    }

    /// Looks until something is true of it.
    async fn until(&mut self, holds: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let began = Instant::now();
        loop {
            let status = self.look().await?;
            if holds(&status) {
                return Ok(status);
            }
            if began.elapsed() > PATIENCE {
                bail!("the orchestration does not end: {status}");
            }
            Clock::running().sleep(LOOK).await;
        }
    }

    /// The orchestration with its counts, which must add up.
    async fn look(&mut self) -> anyhow::Result<Value> {
        let path = format!("/orchestrations/{}", self.id);
        let (status, found) = self.caller.call(Method::GET, &path, None).await?;
        ensure!(status == StatusCode::OK, "the orchestration is {status}: {found}");
        self.looks += 1;
        let stats = found["operationStats"].as_object().context("there are no counts")?;
        let all: u64 = stats.values().filter_map(Value::as_u64).sum();
        // Until its runtimes are chosen it has none.
        let complete = all == u64::try_from(self.runtimes)? || found["state"] == "pending";
        ensure!(complete, "the counts do not add up: {stats:?}");
        let running = count(&found, "in progress");
        ensure!(running <= self.workers, "{running} runtimes are upgraded at a time");
        Ok(found)
    }
}

fn count(status: &Value, state: &str) -> u64 {
    status["operationStats"][state].as_u64().unwrap_or_default()
}

fn done(status: &Value) -> u64 {
    count(status, "succeeded") + count(status, "failed")
}

fn is_final(status: &Value) -> bool {
    ["succeeded", "failed", "canceled"].iter().any(|state| status["state"] == *state)
}

impl Figures {
    /// The figures, for people.
    pub fn text(&self) -> String {
        let Self { runtimes, failed, replicas, kills, looks, again, .. } = self;
        #[expect(clippy::cast_precision_loss, reason = "a count of runtimes is small")]
        let rate = *runtimes as f64 / self.upgraded_in;
        format!(
            "an orchestration over {runtimes} runtimes, {failed} of them failing, by {replicas} replicas, {kills} of them killed meanwhile:\n  \
             ended after {:.1} s ({rate:.1} per second) and a pause of {:.1} s; {again} requests made again\n  \
             the counts were right at {looks} looks, every runtime was upgraded once, every customer notified once\n  \
             memory: broker {:.0} MiB\n",
            self.upgraded_in, self.paused_for, self.broker_memory,
        )
    }
}
