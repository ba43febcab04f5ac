//! Everything that one screen of operators shows.

use jiff::Timestamp;
use serde::Serialize;
use store::{
    engine::Replica,
    operations::{FailedOperation, Present},
};

use super::{Answers, Capacity, Error};

/// How many jobs are listed.
const JOBS: usize = 3;
/// How many failed operations are listed.
const FAILED: usize = 20;

/// Everything that one screen shows.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The current work, the waits with their reasons, and stuck operations.
    #[serde(flatten)]
    pub present: Present,
    /// How many operations failed in the last day; a hundred may be more.
    pub failed_operations: usize,
    /// The newest of them.
    pub failed: Vec<FailedOperation>,
    /// How long the free accounts last; empty when the garden cannot be read.
    pub capacity: Vec<Capacity>,
    /// Why the garden cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_problem: Option<String>,
    /// The jobs that run, and those that run next.
    pub jobs: Vec<NextJob>,
    /// The replicas that live.
    pub replicas: Vec<Replica>,
}

/// A job that runs, or runs next.
#[derive(Debug, Clone, Serialize)]
pub struct NextJob {
    /// Its name.
    pub name: &'static str,
    /// When it runs next; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run_at: Option<Timestamp>,
}

impl Answers {
    /// Everything that one screen shows. A garden that cannot be read takes nothing else away.
    pub async fn status(&self) -> Result<Status, Error> {
        let operations = &self.0.operations;
        let (present, replicas) = (self.present().await?, operations.replicas().await?);
        let mut failed = operations.failed_lately().await?;
        let failed_operations = failed.len();
        failed.truncate(FAILED);
        let (capacity, capacity_problem) = match self.capacity().await {
            Ok(list) => (list.capacity, None),
            Err(error @ Error::Garden(_)) => (Vec::new(), Some(base::failure::chain(&error))),
            Err(error) => return Err(error),
        };
        let jobs = self.next_jobs().await?;
        Ok(Status {
            present,
            failed_operations,
            failed,
            capacity,
            capacity_problem,
            jobs,
            replicas,
        })
    }

    async fn next_jobs(&self) -> Result<Vec<NextJob>, Error> {
        let all = self.0.jobs.list().await?.into_iter().filter(|job| job.enabled);
        let mut next: Vec<NextJob> =
            all.map(|job| NextJob { name: job.name, next_run_at: job.next_run_at }).collect();
        next.sort_by_key(|job| job.next_run_at);
        next.truncate(JOBS);
        Ok(next)
    }
}
