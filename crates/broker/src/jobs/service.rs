//! Jobs as operators see them: their last runs, when they run next, and how one is started.

use std::{sync::Arc, time::Duration};

use domain::OperationId;
use engine::{
    Operation, State, Storage, StorageError,
    storage::{Acceptance, NewOperation, Snapshot, Unfinished, Verdict},
};
use jiff::Timestamp;
use serde::Serialize;
use store::{BrokerStore, EngineStore};
use uuid::Uuid;

use super::{
    ALL, AnyJob, Env, Report, find,
    run::{Data, Input, JobRun, KIND},
    schedule,
};

/// The lane of all runs: they share the workers with each other before they share them with customers.
const LANE: &str = "jobs";

/// Component and reason of the failure of a run that took too long.
const TIME_LIMIT: (&str, &str) = ("engine", "time_limit");

/// The jobs. Clones are the same ones.
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    store: BrokerStore,
    operations: EngineStore,
    env: Arc<Env>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such job.
    #[error("job {0}")]
    Unknown(String),
    /// It cannot run here.
    #[error("job {job} cannot run: {why}")]
    Impossible {
        /// The job.
        job: &'static str,
        /// Why.
        why: &'static str,
    },
    /// The broker's rows cannot be read or written.
    #[error("jobs: reading instances")]
    Store(#[from] store::Error),
    /// The operations cannot be read or written.
    #[error("jobs: reading or writing operations")]
    Operations(#[from] StorageError),
    /// A run cannot be written down or read.
    #[error("jobs: a run cannot be read or written")]
    Json(#[from] serde_json::Error),
}

/// A job.
#[derive(Debug, Clone, Serialize)]
pub struct JobView {
    /// Its name.
    pub name: &'static str,
    /// A description of its work.
    pub about: &'static str,
    /// Whether it runs by itself.
    pub enabled: bool,
    /// Whether its runs by the clock only tell what they would do.
    pub dry_run: bool,
    /// How often it runs, in seconds.
    pub every_seconds: u64,
    /// Why it cannot run here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<&'static str>,
    /// When it runs next; it is due if that is past. Absent when it does not run by itself, or runs already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run_at: Option<Timestamp>,
    /// Its newest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<LastRun>,
    /// Its newest dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_dry_run: Option<LastRun>,
}

impl JobView {
    /// The newest run of the sort that the clock starts: a dry one where the settings say so.
    pub fn last_usual_run(&self) -> Option<&LastRun> {
        if self.dry_run { self.last_dry_run.as_ref() } else { self.last_run.as_ref() }
    }

    /// The newest run, dry or not.
    pub fn into_newest_run(self) -> Option<LastRun> {
        let runs = [self.last_run, self.last_dry_run].into_iter().flatten();
        runs.max_by_key(|run| run.started_at)
    }
}

/// A run.
#[derive(Debug, Clone, Serialize)]
pub struct LastRun {
    /// Its operation.
    pub operation: OperationId,
    /// How far it is.
    pub state: State,
    /// The requester; absent when the run was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<String>,
    /// When it was accepted.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The report so far.
    pub report: Report,
}

/// A run that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StartedRun {
    /// Its operation.
    pub operation: OperationId,
    /// Whether it was started by this request; otherwise it runs already.
    pub started: bool,
}

/// How a run comes about.
pub(super) struct Start<'a> {
    pub(super) id: Uuid,
    pub(super) dry_run: bool,
    pub(super) requested_by: Option<&'a str>,
}

impl Jobs {
    /// The jobs of a broker; its engine serves [`super::plan`] with the same `env`.
    pub fn new(env: Arc<Env>) -> Self {
        let parts = env.broker.parts();
        let (store, operations) = (parts.store.clone(), parts.operations.clone());
        Self(Arc::new(Inner { store, operations, env }))
    }

    pub(super) fn env(&self) -> &Env {
        &self.0.env
    }

    pub(super) fn store(&self) -> &BrokerStore {
        &self.0.store
    }

    pub(super) fn operations(&self) -> &EngineStore {
        &self.0.operations
    }

    /// All jobs.
    pub async fn list(&self) -> Result<Vec<JobView>, Error> {
        let mut jobs = Vec::with_capacity(ALL.len());
        for job in ALL {
            jobs.push(self.view(job).await?);
        }
        Ok(jobs)
    }

    /// One job.
    pub async fn find(&self, name: &str) -> Result<JobView, Error> {
        self.view(known(name)?).await
    }

    /// Starts a run, unless one of the same kind runs already: then that one is the answer.
    pub async fn run(&self, name: &str, dry_run: bool, subject: &str) -> Result<StartedRun, Error> {
        let job = known(name)?;
        if let Some(why) = job.obstacle(self.env()) {
            return Err(Error::Impossible { job: job.name(), why });
        }
        let id = OperationId::new();
        let start = Start { id: id.uuid(), dry_run, requested_by: Some(subject) };
        let accepted = self.accept(job, &start).await?;
        tracing::info!(target: "audit", job = job.name(), dry_run, subject, "job run requested");
        Ok(match accepted {
            Acceptance::Started | Acceptance::Queued => StartedRun { operation: id, started: true },
            Acceptance::Same(other) | Acceptance::Refused(other) => {
                StartedRun { operation: other.into(), started: false }
            }
        })
    }

    pub(super) async fn accept(
        &self,
        job: &dyn AnyJob,
        start: &Start<'_>,
    ) -> Result<Acceptance, Error> {
        let input = Input {
            job: job.name().to_owned(),
            dry_run: start.dry_run,
            requested_by: start.requested_by.map(str::to_owned),
        };
        let new = NewOperation {
            id: start.id,
            instance: instance(job.name(), start.dry_run),
            kind: KIND.to_owned(),
            data_version: JobRun::VERSION,
            lane: LANE.to_owned(),
            input: serde_json::to_vec(&input)?,
            data: serde_json::to_vec(&self.beginning(job, start.dry_run).await?)?,
            digest: None,
        };
        Ok(self.0.operations.accept(new, &one_at_a_time).await?)
    }

    /// What a run begins with. One behind a run that took too long goes on where that one stood, and would never come to the end otherwise;
    /// after any other failure the cursor may be of no use.
    async fn beginning(&self, job: &dyn AnyJob, dry_run: bool) -> Result<Data, Error> {
        let last = self.newest(job.name(), dry_run).await?;
        let stopped = last.filter(|last| {
            let failure = last.failure.as_ref().filter(|_| last.state == State::Failed);
            failure.is_some_and(|it| (it.component.as_str(), it.reason.as_str()) == TIME_LIMIT)
        });
        let Some(stopped) = stopped else { return Ok(Data::default()) };
        let Data { cursor, .. } = serde_json::from_slice(&stopped.data)?;
        Ok(Data { cursor, ..Data::default() })
    }

    /// The newest run of a job.
    pub(super) async fn newest(&self, job: &str, dry_run: bool) -> Result<Option<Snapshot>, Error> {
        let last = self.0.store.last_operation(&instance(job, dry_run), Some(&[KIND])).await?;
        match last {
            Some(id) => Ok(self.0.operations.read(id).await?),
            None => Ok(None),
        }
    }

    async fn view(&self, job: &dyn AnyJob) -> Result<JobView, Error> {
        let settings = self.env().settings.of(job.name());
        let obstacle = job.obstacle(self.env());
        let every: Duration = settings.every.unwrap_or(job.every());
        let enabled = settings.enabled.unwrap_or(job.enabled()) && obstacle.is_none();
        let next_run_at = if enabled { schedule::due(self, job).await? } else { None };
        let run = |newest: Option<Snapshot>| newest.as_ref().map(last_run).transpose();
        Ok(JobView {
            name: job.name(),
            about: job.about(),
            enabled,
            dry_run: settings.dry_run,
            every_seconds: every.as_secs(),
            obstacle,
            next_run_at,
            last_run: run(self.newest(job.name(), false).await?)?,
            last_dry_run: run(self.newest(job.name(), true).await?)?,
        })
    }
}

pub(super) fn known(name: &str) -> Result<&'static dyn AnyJob, Error> {
    find(name).ok_or_else(|| Error::Unknown(name.to_owned()))
}

/// What runs of a job are operations of: no instance has such an id. Dry runs change nothing, so they need not wait for others.
pub(super) fn instance(job: &str, dry_run: bool) -> String {
    if dry_run { format!("job/{job}/dry-run") } else { format!("job/{job}") }
}

/// One run at a time; behind it nobody waits.
fn one_at_a_time(unfinished: &[Unfinished]) -> Verdict {
    unfinished.first().map_or(Verdict::Queue, |running| Verdict::Same(running.id))
}

pub(super) fn last_run(found: &Snapshot) -> Result<LastRun, Error> {
    let input: Input = serde_json::from_slice(&found.input)?;
    let data: Data = serde_json::from_slice(&found.data)?;
    Ok(LastRun {
        operation: found.id.into(),
        state: found.state,
        requested_by: input.requested_by,
        started_at: found.created_at,
        ended_at: found.ended_at,
        failure: found
            .failure
            .as_ref()
            .filter(|_| found.state != State::Succeeded)
            .map(ToString::to_string),
        report: data.report,
    })
}
