//! `kcp job`: the jobs that keep everything clean: their last runs, and one run by hand or by a `CronJob`.

use std::{path::Path, process::ExitCode};

use anyhow::Context;
use clap::Args;
use domain::OperationId;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::operations::follow::follow_as;
use crate::{
    client::Client,
    confirm::Confirmation,
    hint,
    output::{self, Format, Head, Layout, relative, span},
};

const HEAD: [Head; 6] = [
    Head::Fixed("JOB"),
    Head::Fixed("EVERY"),
    Head::Fixed("LAST RUN"),
    Head::State("RESULT"),
    Head::Fixed("DONE/SKIPPED/FAILED"),
    Head::Text("NEXT RUN"),
];
const DETAILS: [Head; 3] = [Head::Fixed("ITEM"), Head::State("OUTCOME"), Head::Text("WHAT")];

/// List the jobs (`kcp job list`), or run one.
#[derive(Args)]
#[command(visible_alias = "jobs")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Job {
    /// The job to run; `list` lists them all.
    #[arg(value_name = "NAME", default_value = "list")]
    name: String,
    /// Only report what the job would do.
    #[arg(long)]
    dry_run: bool,
    /// Watch the run until it ends and print its report. Fails when the run or a part of it fails.
    #[arg(short, long)]
    watch: bool,
    /// Print the report of the newest run instead of running the job.
    #[arg(long, conflicts_with = "watch")]
    report: bool,
    /// Print all details of the report, however many there are.
    #[arg(long, requires = "report")]
    all: bool,
    #[command(flatten)]
    confirmation: Confirmation,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format)]
    output: Format,
}

impl Job {
    pub(crate) async fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let client = Client::connect(data)?;
        if self.name == "list" {
            return self.list(&client).await;
        }
        if self.report {
            return self.print_report(&client).await;
        }
        if !self.dry_run {
            // A job that is not there is reported before any question.
            client.job(&self.name).await?;
            self.confirmation.ask(&format!("Run job {} now, for all instances", self.name))?;
        }
        let started = client.run_job(&self.name, self.dry_run).await?;
        let operation = started["operation"].as_str().context("the broker named no operation")?;
        if started["started"] == false {
            let line = format!("job {} runs already\n", self.name);
            if matches!(self.output, Format::Table | Format::Wide | Format::Known) {
                output::print(&line)?;
            } else {
                eprint!("{}", output::harmless(&line, "\n"));
            }
        }
        if !self.watch {
            self.output.show(&started, operation, || {
                format!("job {} runs as operation {operation}\n", self.name)
            })?;
            hint::next(data, &[format!("kcp operations {operation} --watch")]);
            return Ok(ExitCode::SUCCESS);
        }
        let id: OperationId = operation.parse().context("the broker named no operation")?;
        let ended = follow_as(&client, &id, self.output).await?;
        let reported = self.print_report(&client).await?;
        Ok(if ended == ExitCode::SUCCESS { reported } else { ended })
    }

    async fn list(&self, client: &Client) -> anyhow::Result<ExitCode> {
        let all = client.jobs().await?;
        let now = base::Clock::running().now();
        let layout = Layout { head: &HEAD, name: "/name", empty: "" };
        let items = all["jobs"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.output.list(&all, items, &layout, |job| row(job, now))?;
        Ok(ExitCode::SUCCESS)
    }

    /// All details of a run, from its first to its last page.
    async fn all_details(&self, client: &Client, operation: &Value) -> anyhow::Result<Value> {
        let operation = operation.as_str().context("the broker named no operation")?;
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let mut page = client.job_details(&self.name, operation, after).await?;
            if let Some(details) = page["details"].as_array_mut() {
                all.append(details);
            }
            match page["next"].as_u64() {
                Some(next) => after = next,
                None => return Ok(all.into()),
            }
        }
    }

    /// Prints the report of the newest run; fails when a candidate failed.
    async fn print_report(&self, client: &Client) -> anyhow::Result<ExitCode> {
        let mut job = client.job(&self.name).await?;
        let run = &mut job[if self.dry_run { "last_dry_run" } else { "last_run" }];
        if self.all && run["report"]["omitted"].as_u64().is_some_and(|omitted| omitted > 0) {
            run["report"]["details"] = self.all_details(client, &run["operation"]).await?;
            run["report"]["omitted"] = 0.into();
        }
        if run.is_null() && self.output == Format::Table {
            output::print(&format!("job {} has not run yet\n", self.name))?;
            return Ok(ExitCode::SUCCESS);
        }
        let report = &run["report"];
        let text =
            |detail: &Value, field: &str| detail[field].as_str().unwrap_or_default().to_owned();
        let layout = Layout { head: &DETAILS, name: "/item", empty: "nothing to do" };
        let details = report["details"].as_array().map(Vec::as_slice).unwrap_or_default();
        if self.watch && self.output.is_documents() {
            self.output.document(&json!({ "run": run }))?;
        } else {
            self.output.list(run, details, &layout, |it| {
                vec![text(it, "item"), text(it, "outcome").replace('_', " "), text(it, "text")]
            })?;
        }
        if matches!(self.output, Format::Table | Format::Wide) {
            if report["omitted"].as_u64().is_some_and(|omitted| omitted > 0) {
                let hint = if self.dry_run { " --dry-run" } else { "" };
                output::print(&format!(
                    "and {} more (kcp job {}{hint} --report --all)\n",
                    report["omitted"], self.name
                ))?;
            }
            output::print(&format!(
                "{} candidates, {} {}, {} skipped, {} failed\n",
                report["candidates"],
                report["done"],
                if self.dry_run { "to be done" } else { "done" },
                report["skipped"],
                report["failed"]
            ))?;
        }
        let failed = run["report"]["failed"].as_u64().unwrap_or_default() > 0;
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn row(job: &Value, now: Timestamp) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let when = |value: &Value| {
        let time: Option<Timestamp> = value.as_str().and_then(|time| time.parse().ok());
        time.map(|time| relative(time, now))
    };
    // Runs by the clock may be dry runs alone.
    let is_dry = job["dry_run"] == true;
    let run = &job[if is_dry { "last_dry_run" } else { "last_run" }];
    let mark = if is_dry { " (dry)" } else { "" };
    let report = &run["report"];
    let counts = format!("{}/{}/{}", report["done"], report["skipped"], report["failed"]);
    let every = job["every_seconds"].as_i64().unwrap_or_default();
    let next = match (job["enabled"].as_bool(), when(&job["next_run_at"])) {
        (Some(false), _) => {
            job["obstacle"].as_str().map_or("off".into(), |why| format!("off: {why}"))
        }
        (_, Some(next)) => next,
        (_, None) => "running".into(),
    };
    vec![
        text(&job["name"]),
        span(SignedDuration::from_secs(every)),
        when(&run["started_at"]).map_or_else(|| "never".into(), |when| format!("{when}{mark}")),
        text(&run["state"]),
        if run.is_null() { String::new() } else { counts },
        next,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_listed_with_its_last_and_its_next_run() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let report = json!({"done": 3, "skipped": 2, "failed": 1});
        let run =
            json!({"started_at": "2026-01-01T11:58:30Z", "state": "succeeded", "report": report});
        let job = json!({
            "name": "expiry", "enabled": true, "every_seconds": 3600, "last_run": run,
            "next_run_at": "2026-01-01T12:58:30Z",
        });
        let mut dry = job.clone();
        dry["dry_run"] = true.into();
        dry["last_dry_run"] = dry["last_run"].take();

        let listed = row(&job, now);
        let of_dry_runs = row(&dry, now);
        let off = row(&json!({"name": "drift", "enabled": false, "obstacle": "no garden"}), now);

        assert_eq!(listed, ["expiry", "1h", "1m 30s ago", "succeeded", "3/2/1", "in 58m 30s"]);
        assert_eq!(
            of_dry_runs,
            ["expiry", "1h", "1m 30s ago (dry)", "succeeded", "3/2/1", "in 58m 30s"]
        );
        assert_eq!((off[2].as_str(), off[5].as_str()), ("never", "off: no garden"));
    }
}
