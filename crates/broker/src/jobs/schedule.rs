//! When jobs run: one interval after the run before, or at once when that is past.
//!
//! What a reader would get wrong: every replica looks, and none is elected. A run that is due has an id that follows from the job and its
//! due time, so however many replicas start it, it is one operation; the engine elects the replica that works on it.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use base::failure::chain;
use engine::storage::Acceptance;
use jiff::Timestamp;
use uuid::{Builder, Uuid};

use super::{
    ALL, AnyJob,
    service::{Error, Jobs, Start, instance},
};

/// How often is looked at the latest.
const LOOK: Duration = Duration::from_secs(30);
/// How soon is looked again at the earliest.
const SOON: Duration = Duration::from_secs(1);

/// Starts runs when they are due, until it is dropped.
pub async fn keep(jobs: Jobs) {
    let clock = jobs.env().broker.parts().clock.clone();
    loop {
        let mut wait = LOOK;
        for job in ALL {
            match jobs.start_if_due(job, clock.now()).await {
                Ok(Some(due)) => {
                    let left = Duration::try_from(due.duration_since(clock.now()));
                    wait = wait.min(left.unwrap_or_default().max(SOON));
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(
                    job = job.name(),
                    error = chain(&error),
                    "job cannot be scheduled, trying again later"
                ),
            }
        }
        clock.sleep(wait).await;
    }
}

/// When a job is due; none while it runs.
pub(super) async fn due(jobs: &Jobs, job: &dyn AnyJob) -> Result<Option<Timestamp>, Error> {
    let settings = jobs.env().settings.of(job.name());
    let every = settings.every.unwrap_or(job.every());
    let from = match jobs.newest(job.name(), settings.dry_run).await? {
        Some(run) if !run.state.is_final() => return Ok(None),
        Some(run) => run.created_at,
        None => jobs.store().job_known_since(job.name()).await?,
    };
    Ok(Some(from + every))
}

impl Jobs {
    /// Starts a run if it is due. When it is due otherwise; none while it runs or does not run by itself.
    pub async fn start_due(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        match super::find(name) {
            Some(job) => self.start_if_due(job, now).await,
            None => Err(Error::Unknown(name.to_owned())),
        }
    }

    async fn start_if_due(
        &self,
        job: &dyn AnyJob,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let settings = self.env().settings.of(job.name());
        let enabled = settings.enabled.unwrap_or(job.enabled());
        if !enabled || job.obstacle(self.env()).is_some() {
            return Ok(None);
        }
        let due = match due(self, job).await? {
            Some(due) if due <= now => due,
            not_yet => return Ok(not_yet),
        };
        let dry_run = settings.dry_run;
        let id = run_id(&instance(job.name(), dry_run), due);
        if self.accept(job, &Start { id, dry_run, requested_by: None }).await?
            == Acceptance::Started
        {
            tracing::info!(job = job.name(), dry_run, operation.id = %id, "job started");
        }
        Ok(None)
    }
}

/// The id of a run: alike in every replica, and sorted by the time when it was due.
fn run_id(instance: &str, due: Timestamp) -> Uuid {
    let mut hasher = DefaultHasher::new();
    (instance, due.as_microsecond()).hash(&mut hasher);
    let hash = hasher.finish().to_be_bytes();
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&hash);
    let millis = u64::try_from(due.as_millisecond()).unwrap_or_default();
    Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_id_wherever_it_is_started_and_runs_have_different_ones() {
        let due: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let later = due + Duration::from_secs(60);

        assert_eq!(run_id("job/expiry", due), run_id("job/expiry", due));
        assert_ne!(run_id("job/expiry", due), run_id("job/drift", due));
        assert_ne!(run_id("job/expiry", due), run_id("job/expiry/dry-run", due));
        assert!(run_id("job/expiry", due) < run_id("job/expiry", later));
    }
}
