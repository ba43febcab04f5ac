//! Reads of stored operations.

use std::collections::HashMap;

use ::engine::storage::{Entry, OperationId, OwnershipView, Snapshot};
use jiff::Timestamp;
use sqlx_macros::FromRow;
use uuid::Uuid;

use super::{
    EngineStore, rows,
    rows::{EntryRow, OperationRow, columns},
};
use crate::{Error, Moment, database::Backend, sql::sql};

const READ: &str = concat!(
    "SELECT ",
    columns!(),
    ", i.input, d.data FROM operations o
     JOIN operation_inputs i ON i.operation_id = o.id
     JOIN operation_data d ON d.operation_id = o.id
     WHERE o.id = $1"
);

const JOURNAL: &str = "
    SELECT seq, event, stage, step, run, times, epoch, replica, began_at, ended_at, outcome, reason,
           failure, next_at, state, then_stage, then_step
    FROM runs WHERE operation_id = $1 ORDER BY seq";

macro_rules! journals {
    ($any:literal) => {
        concat!(
            "SELECT operation_id, seq, event, stage, step, run, times, epoch, replica, began_at,
                    ended_at, outcome, reason, failure, next_at, state, then_stage, then_step
             FROM runs WHERE operation_id ",
            $any,
            " ORDER BY operation_id, seq"
        )
    };
}
pub(super) const JOURNALS_POSTGRES: &str = journals!("= ANY ($1)");
pub(super) const JOURNALS_SQLITE: &str = journals!("IN (SELECT unhex(value) FROM json_each($1))");

const LOOK_POSTGRES: &str = "
    SELECT o.id, o.epoch, o.serial, o.owner, o.journal, o.cancel_state, o.cancel_reason,
           EXISTS (SELECT 1 FROM replicas r WHERE r.id = o.owner
                   AND r.lease_until > COALESCE($1, statement_timestamp())) AS owner_alive
    FROM operations o WHERE o.id = ANY ($2)";
const LOOK_SQLITE: &str = "
    SELECT o.id, o.epoch, o.serial, o.owner, o.journal, o.cancel_state, o.cancel_reason,
           EXISTS (SELECT 1 FROM replicas r WHERE r.id = o.owner
                   AND r.lease_until > $1) AS owner_alive
    FROM operations o WHERE o.id IN (SELECT unhex(value) FROM json_each($2))";

sql!(TRIMMABLE = "
    UPDATE operations SET trimmed = true
    WHERE id IN (
        SELECT id FROM operations
        WHERE ended_at IS NOT NULL AND NOT trimmed AND ended_at < $1
        ORDER BY ended_at LIMIT $2" skip ")
    RETURNING id");
const TRIM_POSTGRES: &str = "DELETE FROM runs WHERE operation_id = ANY ($1)";
const TRIM_SQLITE: &str =
    "DELETE FROM runs WHERE operation_id IN (SELECT unhex(value) FROM json_each($1))";

#[derive(FromRow)]
struct SnapshotRow {
    #[sqlx(flatten)]
    operation: OperationRow,
    input: Vec<u8>,
    data: Vec<u8>,
}

#[derive(FromRow)]
pub(super) struct EntryOf {
    pub(super) operation_id: Uuid,
    #[sqlx(flatten)]
    pub(super) entry: EntryRow,
}

#[derive(FromRow)]
struct OwnershipRow {
    id: Uuid,
    epoch: i64,
    serial: i64,
    owner: Option<Uuid>,
    owner_alive: bool,
    journal: i64,
    cancel_state: Option<String>,
    cancel_reason: Option<String>,
}

/// Ids as SQLite takes a list of them.
pub(super) fn listed<'a>(ids: impl Iterator<Item = &'a Uuid>) -> Result<String, Error> {
    rows::written(&ids.map(|id| id.simple().to_string()).collect::<Vec<_>>())
}

impl EngineStore {
    pub(super) async fn read_one(&self, id: OperationId) -> Result<Option<Snapshot>, Error> {
        let found: Option<SnapshotRow> = on!(self.database.reader(), |pool| {
            sqlx::query_as(READ).bind(id).fetch_optional(pool).await
        })?;
        let Some(SnapshotRow { operation, input, data }) = found else { return Ok(None) };
        let input = rows::open_input(&self.sealer, id, &input)?;
        let data = rows::open_data(&self.sealer, id, &data)?;
        operation.into_snapshot(input, data).map(Some)
    }

    pub(super) async fn journal_of(&self, id: OperationId) -> Result<Vec<Entry>, Error> {
        let rows: Vec<EntryRow> = on!(self.database.reader(), |pool| {
            sqlx::query_as(JOURNAL).bind(id).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The journals of some operations, each oldest first.
    pub async fn journals(
        &self,
        ids: impl Iterator<Item = OperationId>,
    ) -> Result<HashMap<OperationId, Vec<Entry>>, Error> {
        let ids: Vec<OperationId> = ids.collect();
        let rows: Vec<EntryOf> = match self.database.reader() {
            Backend::Postgres(pool) => {
                sqlx::query_as(JOURNALS_POSTGRES).bind(&ids).fetch_all(pool).await?
            }
            Backend::Sqlite(pool) => {
                let ids = listed(ids.iter())?;
                sqlx::query_as(JOURNALS_SQLITE).bind(ids).fetch_all(pool).await?
            }
        };
        let mut journals: HashMap<OperationId, Vec<Entry>> = HashMap::new();
        for EntryOf { operation_id, entry } in rows {
            journals.entry(operation_id).or_default().push(entry.try_into()?);
        }
        Ok(journals)
    }

    pub(super) async fn look_at(
        &self,
        ids: &[OperationId],
    ) -> Result<Vec<Option<OwnershipView>>, Error> {
        let now = self.now();
        let mut looked: Vec<OwnershipRow> = match self.database.reader() {
            Backend::Postgres(pool) => {
                sqlx::query_as(LOOK_POSTGRES).bind(now).bind(ids).fetch_all(pool).await?
            }
            Backend::Sqlite(pool) => {
                let ids = listed(ids.iter())?;
                sqlx::query_as(LOOK_SQLITE).bind(now).bind(ids).fetch_all(pool).await?
            }
        };
        looked.sort_unstable_by_key(|row| row.id);
        let seen = |id: &OperationId| {
            let Ok(at) = looked.binary_search_by_key(id, |row| row.id) else { return Ok(None) };
            let row = &looked[at];
            let cancel = rows::cancel(row.cancel_state.as_deref(), row.cancel_reason.as_deref())?;
            Ok(Some(OwnershipView {
                epoch: row.epoch,
                serial: row.serial,
                owner: row.owner,
                owner_alive: row.owner_alive,
                journal: row.journal,
                cancel,
            }))
        };
        ids.iter().map(seen).collect()
    }

    pub(super) async fn trim_journal(&self, before: Timestamp, most: u32) -> Result<u64, Error> {
        let before = Moment::from(before);
        let mut transaction = self.database.begin().await?;
        let trimmed: Vec<Uuid> = on!(transaction.connection(), TRIMMABLE, |text, connection| {
            sqlx::query_scalar(text).bind(before).bind(i64::from(most)).fetch_all(connection).await
        })?;
        match transaction.connection() {
            Backend::Postgres(connection) => {
                sqlx::query(TRIM_POSTGRES).bind(&trimmed).execute(connection).await.map(drop)?;
            }
            Backend::Sqlite(connection) => {
                let ids = listed(trimmed.iter())?;
                sqlx::query(TRIM_SQLITE).bind(ids).execute(connection).await.map(drop)?;
            }
        }
        transaction.commit().await?;
        Ok(trimmed.len() as u64)
    }
}
