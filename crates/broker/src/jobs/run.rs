//! One run of a job: an operation with one step, which works on one page of candidates at a time.
//!
//! What a reader would get wrong: between two pages the operation sleeps for as long as the job's rate demands. Cursor and report are
//! stored with every page, so that a run which is interrupted goes on where it was.

use std::time::Duration;

use base::Failure;
use engine::{Cx, Operation, Plan, Retry, Step, StepError, StepResult, done, waiting};
use serde::{Deserialize, Serialize};

use super::{
    Env, JobSettings, Report,
    audited::JobAudit,
    cx::{Next, PageCx},
    details, find,
    report::Outcome,
    shoots::ShootReading,
};

/// Under which name operations of this kind are stored.
pub const KIND: &str = "job";
/// How long a run may take in all.
const LIMIT: Duration = Duration::from_hours(48);
/// The shortest pause between two pages.
const PAUSE: Duration = Duration::from_millis(20);

/// One run of a job.
pub struct JobRun;

impl Operation for JobRun {
    const KIND: &'static str = KIND;
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The job.
    pub job: String,
    /// Whether nothing may be changed.
    pub dry_run: bool,
    /// The requester; none when the run was due.
    #[serde(default)]
    pub requested_by: Option<String>,
}

/// The progress of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// The report so far.
    pub report: Report,
    /// Whether the audit has the run, where it was started by the clock.
    pub audited: bool,
}

/// Memory between pages; never stored.
#[derive(Default)]
pub struct Memory {
    pub(super) shoots: Option<ShootReading>,
}

/// The plan of every job.
pub fn plan() -> Plan<JobRun> {
    Plan::within(LIMIT).each(RunJob)
}

struct RunJob;

impl Step<JobRun> for RunJob {
    const NAME: &'static str = "Run_Job";
    const CALLS: &'static [&'static str] = &["aws", "azure", "cis", "gardener", "provisioner"];
    const RETRY: Retry = Retry::DEFAULT
        .backing_off(Duration::from_secs(2), Duration::from_secs(120))
        .failing_for(Duration::from_hours(1))
        .each_within(Duration::from_mins(10));

    async fn run(&self, cx: &mut Cx<'_, JobRun>) -> StepResult {
        let Some(job) = find(&cx.input.job) else {
            return Err(refused(format!("there is no job \"{}\"", cx.input.job)));
        };
        if let Some(obstacle) = job.obstacle(cx.env) {
            return Err(refused(obstacle.to_owned()));
        }
        let requested_by = cx.input.requested_by.as_deref();
        let audit = JobAudit::new(cx.env, job.name(), cx.operation, requested_by);
        // A run that an operator has started has the entry of the request.
        if requested_by.is_none() && !cx.data.audited {
            let entry = audit.begin_run(cx.input.dry_run).await?;
            cx.data.audited = true;
            cx.save().await?;
            audit.finish(entry, Outcome::Done, "it was due").await;
        }
        // What a page that fails has noted is noted again by the next try.
        let mut report = cx.data.report.clone();
        let mut page = PageCx {
            env: cx.env,
            dry_run: cx.input.dry_run,
            now: cx.now,
            cursor: cx.data.cursor.as_deref(),
            memory: cx.memory,
            report: &mut report,
            job: job.name(),
            run: cx.operation,
            audit,
            acted: 0,
        };
        let next = job.page(&mut page).await?;
        let pause = pause(page.acted, &cx.env.settings.of(job.name()));
        details::store(cx.env, cx.operation, &mut report).await?;
        let text = report.to_string();
        cx.data.report = report;
        match next {
            Next::More(cursor) => {
                cx.data.cursor = Some(cursor);
                waiting(format!("goes on with the next page: {text}")).at_latest(pause).into()
            }
            Next::End => {
                cx.data.cursor = None;
                cx.note(text);
                done()
            }
        }
    }
}

/// How long the rate demands to wait after acting so often. The engine looks up to a fifth earlier.
fn pause(acted: u32, settings: &JobSettings) -> Duration {
    (Duration::from_mins(1) * acted * 5 / 4 / settings.rate.get()).max(PAUSE)
}

fn refused(text: String) -> StepError {
    StepError::fatal(Failure::new("broker", "refused", text))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn pauses_keep_the_rate() {
        let rate = NonZeroU32::new(30).unwrap();
        let settings = JobSettings { rate, ..JobSettings::default() };

        assert_eq!(pause(16, &settings) * 4 / 5, Duration::from_secs(32));
        assert_eq!(pause(0, &settings), PAUSE);
    }
}
