//! Operations that another program has ended: history, with a journal of one entry that says where they come from.

use ::engine::{OperationId, State};
use base::Failure;
use jiff::Timestamp;

use super::{
    EngineStore,
    rows::{seal_data, seal_input, storable, written},
};
use crate::{Connection, Error, Moment};

const OPERATION: &str = "
    INSERT INTO operations (id, root, instance, kind, data_version, lane, state, closed, incomplete, failure,
                            journal, created_at, started_at, updated_at, ended_at, trimmed)
    VALUES ($1, $1, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11, $12, $12, true)
    ON CONFLICT DO NOTHING";
const INPUT: &str = "INSERT INTO operation_inputs (operation_id, input) VALUES ($1, $2)";
const DATA: &str = "INSERT INTO operation_data (operation_id, data) VALUES ($1, $2)";
const NOTED: &str = "
    INSERT INTO runs (operation_id, seq, event, epoch, began_at, ended_at, reason, state)
    VALUES ($1, 1, 'accepted', 0, $2, $3, $4, $5)";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(crate) const TEXTS: &[(&str, &str)] = &[(OPERATION, ""), (INPUT, ""), (DATA, ""), (NOTED, "")];

/// An operation that another program has ended.
#[derive(Clone)]
pub struct ImportedOperation {
    pub id: OperationId,
    /// The instance that it worked on.
    pub instance: String,
    pub kind: String,
    /// The version of its data, as plans have it.
    pub data_version: i32,
    /// Its lane.
    pub lane: String,
    /// How it ended; a final state.
    pub state: State,
    /// The stages that were closed.
    pub closed: Vec<String>,
    /// The steps that were executed and not completed: `stage/step`.
    pub incomplete: Vec<String>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// The request; sealed at rest.
    pub input: Vec<u8>,
    /// Data of the steps; sealed at rest.
    pub data: Vec<u8>,
    pub created_at: Timestamp,
    /// None for one that never began.
    pub started_at: Option<Timestamp>,
    pub ended_at: Timestamp,
    /// The text of its only journal entry.
    pub note: String,
}

/// Input and data carry secrets, so they are not printed.
impl std::fmt::Debug for ImportedOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImportedOperation")
            .field("id", &self.id)
            .field("instance", &self.instance)
            .field("kind", &self.kind)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl EngineStore {
    /// Stores an ended operation, and says whether it did: its id may be in use.
    pub(crate) async fn import_in(
        &self,
        mut connection: Connection<'_>,
        operation: &ImportedOperation,
    ) -> Result<bool, Error> {
        if !operation.state.is_final() {
            return Err(Error::Refused(format!("operation {} has not ended", operation.id)));
        }
        let failure = operation.failure.as_ref().map(written).transpose()?;
        let created_at = Moment::from(operation.created_at);
        let ended_at = Moment::from(operation.ended_at.max(operation.created_at));
        let stored = on!(connection.lend(), |connection| {
            sqlx::query(OPERATION)
                .bind(operation.id)
                .bind(&operation.instance)
                .bind(&operation.kind)
                .bind(operation.data_version)
                .bind(&operation.lane)
                .bind(operation.state.as_str())
                .bind(operation.closed.join(","))
                .bind(operation.incomplete.join(","))
                .bind(failure.as_deref().map(storable))
                .bind(created_at)
                .bind(operation.started_at.map(Moment::from))
                .bind(ended_at)
                .execute(connection)
                .await
                .map(|done| done.rows_affected())
        })?;
        if stored == 0 {
            return Ok(false);
        }
        let sealed = [
            (INPUT, seal_input(&self.sealer, operation.id, &operation.input)),
            (DATA, seal_data(&self.sealer, operation.id, &operation.data)),
        ];
        for (text, sealed) in sealed {
            on!(connection.lend(), |connection| {
                sqlx::query(text)
                    .bind(operation.id)
                    .bind(sealed)
                    .execute(connection)
                    .await
                    .map(drop)
            })?;
        }
        on!(connection, |connection| {
            sqlx::query(NOTED)
                .bind(operation.id)
                .bind(created_at)
                .bind(ended_at)
                .bind(storable(&operation.note))
                .bind(operation.state.as_str())
                .execute(connection)
                .await
                .map(drop)
        })?;
        Ok(true)
    }
}
