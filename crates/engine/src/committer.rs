//! Brings results into the store: those that are ready together share a transaction, a lone one does
//! not wait for company. A commit without an answer is looked up before anything is repeated.

use std::{sync::Arc, time::Duration};

use base::Clock;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tracing::{debug, warn};

use crate::{
    lease::Lease,
    planted::PlantedBug,
    storage::{Commit, CommitResult, Storage, StorageError},
};

struct Job {
    commit: Commit,
    answer: oneshot::Sender<CommitResult>,
}

/// The queue in front of the store.
#[derive(Clone)]
pub(crate) struct Committer(mpsc::Sender<Job>);

impl Committer {
    /// Starts working; ends when the last handle is dropped.
    pub(crate) fn start<S: Storage>(
        storage: Arc<S>,
        lease: Arc<Lease>,
        clock: Clock,
        batch: usize,
        at_once: usize,
        planted: PlantedBug,
    ) -> Self {
        let (line, mut jobs) = mpsc::channel::<Job>(batch.max(1) * 16);
        tokio::spawn(async move {
            let places = Arc::new(Semaphore::new(at_once.max(1)));
            // The place comes first: while all are taken, results gather.
            while let Ok(place) = places.clone().acquire_owned().await {
                let Some(first) = jobs.recv().await else { return };
                let mut ready = vec![first];
                while ready.len() < batch
                    && let Ok(job) = jobs.try_recv()
                {
                    ready.push(job);
                }
                let work = Work {
                    storage: storage.clone(),
                    lease: lease.clone(),
                    clock: clock.clone(),
                    planted,
                };
                tokio::spawn(async move {
                    work.land(ready).await;
                    drop(place);
                });
            }
        });
        Self(line)
    }

    /// Stores one result.
    pub(crate) async fn store(&self, commit: Commit) -> CommitResult {
        let (answer, answered) = oneshot::channel();
        if self.0.send(Job { commit, answer }).await.is_err() {
            return CommitResult::Fenced;
        }
        answered.await.unwrap_or(CommitResult::Fenced)
    }
}

struct Work<S> {
    storage: Arc<S>,
    lease: Arc<Lease>,
    clock: Clock,
    planted: PlantedBug,
}

impl<S: Storage> Work<S> {
    async fn land(&self, mut jobs: Vec<Job>) {
        let mut pause = Duration::from_millis(20);
        // Whether an earlier try may have landed without our knowing.
        let mut in_doubt = false;
        while !jobs.is_empty() {
            if !self.lease.permits(self.planted) {
                return answer_all(jobs, &CommitResult::Fenced);
            }
            let commits: Vec<Commit> = jobs.iter().map(|job| job.commit.clone()).collect();
            match self.storage.commit(self.lease.replica, &commits).await {
                Ok(landed) => {
                    jobs = answer(jobs, landed, in_doubt);
                    if !jobs.is_empty() {
                        jobs = self.look(jobs).await;
                    }
                    in_doubt = false;
                }
                Err(StorageError::Unknown(_)) if self.planted.is(PlantedBug::UnknownIsDone) => {
                    return answer_all(jobs, &CommitResult::Yes { journal: 0, cancel: None });
                }
                Err(StorageError::Unknown(_)) if self.planted.is(PlantedBug::UnknownIsFailed) => {
                    return answer_all(jobs, &CommitResult::Rejected("no answer".into()));
                }
                Err(StorageError::Unknown(reason)) => {
                    warn!(%reason, results = jobs.len(), "a commit got no answer, looking it up");
                    in_doubt = true;
                    jobs = self.look(jobs).await;
                    self.rest(&mut pause).await;
                }
                Err(StorageError::Unavailable(reason)) => {
                    debug!(%reason, results = jobs.len(), "database unavailable, retrying commit");
                    self.rest(&mut pause).await;
                }
                Err(StorageError::Refused(reason)) => {
                    return answer_all(jobs, &CommitResult::Rejected(reason));
                }
            }
        }
    }

    /// Answers what is known to have landed or to be lost; returns what has to be tried again.
    async fn look(&self, jobs: Vec<Job>) -> Vec<Job> {
        let ids: Vec<_> = jobs.iter().map(|job| job.commit.id).collect();
        let mut pause = Duration::from_millis(20);
        let seen = loop {
            if !self.lease.is_valid() {
                answer_all(jobs, &CommitResult::Fenced);
                return Vec::new();
            }
            match self.storage.look(&ids).await {
                Ok(seen) => break seen,
                Err(error) => {
                    debug!(%error, "database unavailable, checking the commit again");
                    self.rest(&mut pause).await;
                }
            }
        };
        let mut open = Vec::new();
        for (job, seen) in jobs.into_iter().zip(seen) {
            let mine = seen.filter(|seen| {
                seen.epoch == job.commit.epoch && seen.owner == Some(self.lease.replica)
            });
            match mine {
                Some(seen) if seen.serial == job.commit.serial + 1 => {
                    let stored = CommitResult::Yes { journal: seen.journal, cancel: seen.cancel };
                    let _ = job.answer.send(stored);
                }
                Some(seen) if seen.serial == job.commit.serial && seen.owner_alive => {
                    open.push(job);
                }
                _ => {
                    let _ = job.answer.send(CommitResult::Fenced);
                }
            }
        }
        open
    }

    async fn rest(&self, pause: &mut Duration) {
        tokio::select! {
            biased;
            () = self.lease.is_lost() => {}
            () = self.clock.sleep(*pause) => {}
        }
        *pause = (*pause * 2).min(Duration::from_secs(1));
    }
}

/// Answers the landed ones. A result that was fenced while in doubt may be our own earlier try: it is
/// returned, to be looked up.
fn answer(jobs: Vec<Job>, landed: Vec<CommitResult>, in_doubt: bool) -> Vec<Job> {
    let mut doubtful = Vec::new();
    for (job, landed) in jobs.into_iter().zip(landed) {
        if in_doubt && landed == CommitResult::Fenced {
            doubtful.push(job);
        } else {
            let _ = job.answer.send(landed);
        }
    }
    doubtful
}

fn answer_all(jobs: Vec<Job>, stored: &CommitResult) {
    for job in jobs {
        let _ = job.answer.send(stored.clone());
    }
}
