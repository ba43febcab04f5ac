//! Whether the keys of this process open what the database holds. A process whose keys do not would answer errors for
//! the rows of others, and write rows that the others cannot read.
//!
//! The database has one row for each key that seals, with a value that only that key opens.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::{SealError, SealLocation, Sealer};
use crate::{
    Connection, Database, Error,
    database::Backend,
    rotate::{IdKind, SealedColumn},
};

const ONE_AT_A_TIME: &str = "SELECT pg_advisory_xact_lock(hashtextextended('kcp sealing keys', 0))";
const KNOWN: &str = "SELECT id, canary FROM sealing_keys";
const ADD: &str = "INSERT INTO sealing_keys (id, canary) VALUES ($1, $2)";
const FORGET: &str = "DELETE FROM sealing_keys WHERE id <> $1";
const CANARY: &[u8] = b"kcp";

fn canary_of(id: &str) -> SealLocation<'_> {
    SealLocation { table: "sealing_keys", column: "canary", row: id }
}

impl Database {
    /// Refuses keys that do not open what is stored in `columns`; adds the key that seals to the known ones.
    pub async fn check_keys(&self, sealer: &Sealer, columns: &[SealedColumn]) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        if let Backend::Postgres(connection) = transaction.connection() {
            sqlx::query(ONE_AT_A_TIME).execute(connection).await?;
        }
        let known: Vec<(String, Vec<u8>)> = on!(transaction.connection(), |connection| {
            sqlx::query_as(KNOWN).fetch_all(connection).await
        })?;
        for (id, canary) in &known {
            sealer.open(canary_of(id), canary).map_err(|error| refused(sealer, &error, id))?;
        }
        if known.is_empty() {
            // From before keys were written down.
            for column in columns {
                open_one(transaction.connection(), sealer, column).await?;
            }
        }
        let current = sealer.current_id();
        if known.iter().any(|(id, _)| id == current) {
            return transaction.rollback().await;
        }
        let canary = sealer.seal(canary_of(current), CANARY);
        on!(transaction.connection(), |connection| {
            sqlx::query(ADD).bind(current).bind(canary).execute(connection).await.map(drop)
        })?;
        transaction.commit().await
    }

    /// Forgets all keys but the one that seals: after a rotation that left nothing under the others.
    pub async fn forget_older_keys(&self, sealer: &Sealer) -> Result<u64, Error> {
        let forgotten = on!(self.writer(), |pool| {
            let current = sealer.current_id();
            sqlx::query(FORGET).bind(current).execute(pool).await.map(|done| done.rows_affected())
        });
        forgotten.map_err(Error::writing)
    }
}

fn refused(sealer: &Sealer, error: &SealError, id: &str) -> Error {
    let ours = sealer.ids().collect::<Vec<_>>().join(", ");
    Error::WrongKeys(match error {
        SealError::UnknownKey { .. } => format!(
            "the database holds values sealed with key \"{id}\", which is not among the keys of this process ({ours})"
        ),
        _ => format!(
            "key \"{id}\" is not the key of that id that the database's values are sealed with"
        ),
    })
}

/// Opens one value of a column, if there is any.
async fn open_one(
    connection: Connection<'_>,
    sealer: &Sealer,
    column: &SealedColumn,
) -> Result<(), Error> {
    let SealedColumn { table, id, kind, column } = *column;
    let sql = format!("SELECT {id}, {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1");
    let found: Option<(String, Vec<u8>)> = match kind {
        IdKind::Text => on!(connection, |connection| {
            sqlx::query_as(AssertSqlSafe(sql)).fetch_optional(connection).await
        })?,
        IdKind::Uuid => {
            let found: Option<(Uuid, Vec<u8>)> = on!(connection, |connection| {
                sqlx::query_as(AssertSqlSafe(sql)).fetch_optional(connection).await
            })?;
            found.map(|(id, sealed)| (id.to_string(), sealed))
        }
    };
    let Some((row, sealed)) = found else { return Ok(()) };
    match sealer.open(SealLocation { table, column, row: &row }, &sealed) {
        Ok(_) => Ok(()),
        Err(error) => {
            let id = Sealer::key_id(&sealed).unwrap_or_default();
            Err(refused(sealer, &error, id))
        }
    }
}
