//! Commits: results of many operations in one go, each fenced on its own.
//!
//! Without an end and without changes to other rows, a batch is one statement and nothing else. A
//! batch that is refused because of what is in it is written again one by one, so that only the
//! culprit is rejected.

mod line;
mod postgres;
mod sqlite;

use std::collections::{HashMap, HashSet};

use ::engine::{
    OperationId, PlantedBug, ReplicaId, StorageError,
    storage::{AfterCommit, Cancel, Commit, CommitResult, Wake},
};

use self::line::Line;
use super::EngineStore;
use crate::{Connection, Error, database::Backend, error::Trouble};

/// A commit that passed its fence.
struct FencedCommit {
    instance: String,
    journal: i64,
    cancel: Option<Cancel>,
}

type PassedById = HashMap<OperationId, FencedCommit>;

/// The conditions of the fence; tests leave parts of it out.
#[derive(Clone, Copy)]
struct Fence {
    replica: ReplicaId,
    /// Owner, epoch, serial and lease.
    owned: bool,
    /// Held, and not final.
    unfinished: bool,
}

impl EngineStore {
    pub(super) async fn commit_batch(
        &self,
        replica: ReplicaId,
        batch: &[Commit],
    ) -> Result<Vec<CommitResult>, StorageError> {
        let mut landed = Vec::with_capacity(batch.len());
        for part in parts(batch) {
            match self.write_together(replica, part).await {
                Ok(answers) => landed.extend(answers),
                Err(error) if error.trouble() == Trouble::Data => {
                    self.write_one_by_one(replica, part, &mut landed).await?;
                }
                Err(error) => return Err(failed(error, &landed)),
            }
        }
        Ok(landed)
    }

    async fn write_one_by_one(
        &self,
        replica: ReplicaId,
        part: &[Commit],
        landed: &mut Vec<CommitResult>,
    ) -> Result<(), StorageError> {
        for commit in part {
            match self.write_together(replica, std::slice::from_ref(commit)).await {
                Ok(answers) => landed.extend(answers),
                Err(error) if error.trouble() == Trouble::Data => {
                    landed.push(CommitResult::Rejected(base::failure::chain(&error)));
                }
                Err(error) => return Err(failed(error, landed)),
            }
        }
        Ok(())
    }

    async fn write_together(
        &self,
        replica: ReplicaId,
        part: &[Commit],
    ) -> Result<Vec<CommitResult>, Error> {
        let lines = part
            .iter()
            .map(|commit| Line::new(&self.sealer, commit))
            .collect::<Result<Vec<_>, _>>()?;
        let fence = Fence {
            replica,
            owned: !self.planted.is(PlantedBug::NoFence),
            unfinished: !self.planted.is(PlantedBug::FinalOverwritten),
        };
        let lone = |commit: &Commit| commit.then != AfterCommit::End && commit.changes.is_empty();
        let passed = match self.database.writer() {
            Backend::Postgres(pool) if part.iter().all(lone) => {
                let mut connection = pool.acquire().await?;
                let written = postgres::write(&mut connection, self.now(), fence, &lines).await;
                // Outside a transaction, it is the statement that makes it permanent.
                postgres::passed(written.map_err(Error::writing)?)?
            }
            _ => self.write_in_transaction(fence, part, &lines).await?,
        };
        let changed =
            |commit: &Commit| Some((commit.id, Some(passed.get(&commit.id)?.instance.as_str())));
        self.wakes.changed(part.iter().filter_map(changed));
        Ok(answers(part, passed))
    }

    async fn write_in_transaction(
        &self,
        fence: Fence,
        part: &[Commit],
        lines: &[Line],
    ) -> Result<PassedById, Error> {
        let mut transaction = self.database.begin().await?;
        let passed = match transaction.connection() {
            Backend::Postgres(connection) => {
                postgres::passed(postgres::write(connection, self.now(), fence, lines).await?)?
            }
            Backend::Sqlite(connection) => {
                sqlite::write(connection, self.now(), fence, lines).await?
            }
        };
        let admitted = self.write_what_follows(transaction.connection(), part, &passed).await?;
        transaction.commit().await?;
        if admitted > 0 {
            self.wakes.ring(Wake::Due);
        }
        Ok(passed)
    }

    /// Changes to other rows, and the admission of what waits behind the operations that ended.
    async fn write_what_follows(
        &self,
        mut connection: Connection<'_>,
        part: &[Commit],
        passed: &PassedById,
    ) -> Result<u64, Error> {
        let mut ended = Vec::new();
        for commit in part {
            let Some(passed) = passed.get(&commit.id) else { continue };
            self.apply(connection.lend(), commit.id, &commit.changes).await?;
            if commit.then == AfterCommit::End {
                ended.push(passed.instance.clone());
            }
        }
        if ended.is_empty() { Ok(0) } else { self.admit_next(connection, &ended).await }
    }
}

/// In the engine's words. Once a part of the batch has landed, the whole is in doubt.
fn failed(error: Error, landed: &[CommitResult]) -> StorageError {
    match StorageError::from(error) {
        StorageError::Unavailable(text) | StorageError::Refused(text)
            if landed.iter().any(|landed| matches!(landed, CommitResult::Yes { .. })) =>
        {
            StorageError::Unknown(text)
        }
        error => error,
    }
}

/// Cuts a batch so that no part has two commits of one operation.
fn parts(batch: &[Commit]) -> Vec<&[Commit]> {
    let mut parts = Vec::new();
    let mut seen = HashSet::with_capacity(batch.len());
    let mut from = 0;
    for (at, commit) in batch.iter().enumerate() {
        if !seen.insert(commit.id) {
            parts.push(&batch[from..at]);
            from = at;
            seen.clear();
            seen.insert(commit.id);
        }
    }
    if from < batch.len() {
        parts.push(&batch[from..]);
    }
    parts
}

fn answers(part: &[Commit], mut passed: PassedById) -> Vec<CommitResult> {
    part.iter()
        .map(|commit| match passed.remove(&commit.id) {
            Some(FencedCommit { journal, cancel, .. }) => CommitResult::Yes { journal, cancel },
            None => CommitResult::Fenced,
        })
        .collect()
}
