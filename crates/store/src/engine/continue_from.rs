//! A retry is a new operation that continues a final one.

use ::engine::{
    OperationId,
    storage::{Acceptance, NewOperation, Pairs},
};
use base::Failure;
use sqlx_macros::FromRow;
use uuid::Uuid;

use super::{EngineStore, accept::Candidate, refusal, rows};
use crate::Error;

const DIGEST: &str = "SELECT digest FROM operations WHERE id = $1";
// $2: the old one. $3: the new one. Those that were stopped before they began have changed nothing. One that was abandoned in its
// first step has no beginning, but may have changed something: its step was on its way.
const NEWER: &str = "
    SELECT id, CASE WHEN state = 'failed' THEN failure END AS failure FROM operations
    WHERE instance = $1 AND (created_at, id) > (SELECT created_at, id FROM operations WHERE id = $2)
      AND id <> $3
      AND (started_at IS NOT NULL OR step_gone_at IS NOT NULL OR state NOT IN ('failed', 'canceled'))
    ORDER BY instance DESC, created_at DESC, id DESC";

/// The statement with texts of its own, with the index it goes by.
#[cfg(test)]
pub(crate) const TEXTS: &[(&str, &str)] = &[(NEWER, "operations_of_instance")];

/// The result of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryResult {
    /// The table of pairs has decided.
    Yes(Acceptance),
    /// Nothing stored: this operation of the instance is newer, and an old order must not undo what it did.
    Older(OperationId),
}

#[derive(FromRow)]
struct NewerRow {
    id: Uuid,
    failure: Option<String>,
}

impl EngineStore {
    /// Continues a final operation if it is the newest one of its instance; those that have changed nothing do not count.
    pub async fn continue_newest(
        &self,
        old: OperationId,
        new: OperationId,
        pairs: &Pairs<'_>,
    ) -> Result<RetryResult, Error> {
        let mut candidate = self.continuation(old, new).await?;
        let instance = candidate.new.instance.clone();
        let mut transaction = self.database.begin().await?;
        let input = self.continued_input(transaction.connection(), &candidate.new).await?;
        if let Some(input) = input {
            candidate.new.input = input;
        }
        let acceptance = self.decide_in(&mut transaction, &candidate, pairs).await?;
        // Looked at once the new one is stored: what is accepted from here on waits for it.
        let newer: Vec<NewerRow> = on!(transaction.connection(), |connection| {
            sqlx::query_as(NEWER).bind(&instance).bind(old).bind(new).fetch_all(connection).await
        })?;
        let mut newest = None;
        for row in newer {
            let failure: Option<Failure> = rows::parsed(row.failure.as_deref())?;
            if !failure.is_some_and(|failure| refusal::is_one(&failure)) {
                newest = Some(row.id);
                break;
            }
        }
        match (newest, acceptance) {
            (_, Acceptance::Refused(_) | Acceptance::Same(_)) => {
                transaction.rollback().await?;
                Ok(RetryResult::Yes(acceptance))
            }
            (Some(newer), _) => {
                transaction.rollback().await?;
                Ok(RetryResult::Older(newer))
            }
            (None, _) => {
                transaction.commit().await?;
                Ok(RetryResult::Yes(acceptance))
            }
        }
    }

    /// A new operation with the data of the old one, in which only what was not completed runs.
    pub(super) async fn continuation(
        &self,
        old: OperationId,
        new: OperationId,
    ) -> Result<Candidate, Error> {
        // No lock: a final operation does not change any more.
        let Some(old) = self.read_one(old).await? else {
            return Err(Error::Refused(format!("there is no operation {old} to continue")));
        };
        if !old.state.is_final() {
            return Err(Error::Refused(format!("operation {} has not ended", old.id)));
        }
        // What it was asked for is asked for again.
        let digest = on!(self.database.reader(), |pool| {
            sqlx::query_scalar(DIGEST).bind(old.id).fetch_one(pool).await
        })?;
        let reopened =
            |stage: &str| old.incomplete.iter().any(|step| step.split('/').next() == Some(stage));
        let closed = old.closed.iter().filter(|stage| !reopened(stage)).cloned().collect();
        Ok(Candidate {
            root: old.root,
            closed,
            new: NewOperation {
                id: new,
                instance: old.instance,
                kind: old.kind,
                data_version: old.data_version,
                lane: old.lane,
                input: old.input,
                data: old.data,
                digest,
            },
        })
    }
}
