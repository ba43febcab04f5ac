//! Moves sealed columns to the current key, in batches, while everybody else goes on working.
//!
//! The order of a rotation: put the new key *behind* the current one on every replica (all can open it),
//! then in front (all seal with it), then run this until nothing is left, then remove the old key.
//! There is no position to keep: what is under the current key already is not read again, so an
//! interrupted rotation is simply started again. Each row is replaced only if it still holds what was
//! read, so a concurrent writer wins, and no lock is held from one row to the next.

use std::fmt::Display;

use sqlx::{AssertSqlSafe, Decode, Encode, Postgres, Sqlite, Type};
use uuid::Uuid;

use crate::{Database, Error, SealError, SealLocation, Sealer, Set};

/// A column that holds sealed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedColumn {
    /// The table.
    pub table: &'static str,
    /// The table's primary key, which names the row in [`SealLocation`].
    pub id: &'static str,
    /// The type of the primary key.
    pub kind: IdKind,
    /// The sealed column.
    pub column: &'static str,
}

/// The type of a primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A UUID; [`SealLocation`] has it in its usual spelling.
    Uuid,
    /// Text.
    Text,
}

/// The sealed columns of the engine's tables.
pub const ENGINE: [SealedColumn; 2] = [
    SealedColumn {
        table: "operation_inputs",
        id: "operation_id",
        kind: IdKind::Uuid,
        column: "input",
    },
    SealedColumn {
        table: "operation_data",
        id: "operation_id",
        kind: IdKind::Uuid,
        column: "data",
    },
];

/// The sealed columns of the broker's tables.
pub const BROKER: [SealedColumn; 4] = [
    SealedColumn { table: "instances", id: "id", kind: IdKind::Text, column: "ordered" },
    SealedColumn { table: "instances", id: "id", kind: IdKind::Text, column: "details" },
    SealedColumn { table: "runtime_states", id: "id", kind: IdKind::Uuid, column: "payload" },
    SealedColumn { table: "bindings", id: "id", kind: IdKind::Uuid, column: "credentials" },
];

/// The sealed columns of the provisioner's tables.
pub const PROVISIONER: [SealedColumn; 2] = [
    SealedColumn { table: "runtimes", id: "id", kind: IdKind::Uuid, column: "document" },
    SealedColumn { table: "runtimes", id: "id", kind: IdKind::Uuid, column: "kubeconfig" },
];

/// The sealed columns of a set of tables and the engine's beside it.
pub fn columns_of(set: Set) -> Vec<SealedColumn> {
    let own: &[SealedColumn] = match set {
        Set::Engine => &[],
        Set::Broker => &BROKER,
        Set::Provisioner => &PROVISIONER,
    };
    [&ENGINE, own].concat()
}

/// The report of one pass over the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RotationReport {
    /// Values that are under the current key now.
    pub resealed: u64,
    /// Values that were written or removed concurrently; the next pass looks at them again.
    pub overtaken: u64,
    /// Values that do not open, with their row; they stay as they are.
    pub refused: Vec<(String, SealError)>,
}

impl RotationReport {
    /// Whether older keys are not needed any more by these columns.
    pub fn is_complete(&self) -> bool {
        self.overtaken == 0 && self.refused.is_empty()
    }
}

/// One pass over sealed columns.
#[derive(Debug)]
pub struct Rotation<'a> {
    database: &'a Database,
    sealer: &'a Sealer,
    columns: &'a [SealedColumn],
    /// How many rows are read at a time.
    batch: u32,
    /// The last row that was looked at in the first of `columns`.
    after: Option<Id>,
    rotated: RotationReport,
}

#[derive(Debug, Clone)]
enum Id {
    Uuid(Uuid),
    Text(String),
}

impl<'a> Rotation<'a> {
    /// A pass that begins at the first row.
    pub fn new(database: &'a Database, sealer: &'a Sealer, columns: &'a [SealedColumn]) -> Self {
        Self {
            database,
            sealer,
            columns,
            batch: 100,
            after: None,
            rotated: RotationReport::default(),
        }
    }

    /// Reads this many rows at a time.
    #[must_use]
    pub fn in_batches_of(mut self, rows: u32) -> Self {
        self.batch = rows.max(1);
        self
    }

    /// All batches, one after the other.
    pub async fn run(mut self) -> Result<RotationReport, Error> {
        while self.next_batch().await? {}
        Ok(self.rotated)
    }

    /// The report of this pass so far.
    pub fn rotated(&self) -> &RotationReport {
        &self.rotated
    }

    /// Does one batch, and says whether there may be more. After an error it may be called again.
    pub async fn next_batch(&mut self) -> Result<bool, Error> {
        let Some((column, rest)) = self.columns.split_first() else { return Ok(false) };
        let after = match (column.kind, self.after.clone()) {
            (IdKind::Uuid, Some(Id::Uuid(after))) => {
                self.batch_of(column, Some(after)).await?.map(Id::Uuid)
            }
            (IdKind::Uuid, _) => self.batch_of(column, None::<Uuid>).await?.map(Id::Uuid),
            (IdKind::Text, Some(Id::Text(after))) => {
                self.batch_of(column, Some(after)).await?.map(Id::Text)
            }
            (IdKind::Text, _) => self.batch_of(column, None::<String>).await?.map(Id::Text),
        };
        if after.is_none() {
            self.columns = rest;
        }
        self.after = after;
        Ok(!self.columns.is_empty())
    }

    /// Looks at the rows after `after`; returns the last of them, `None` when there was none.
    async fn batch_of<T: RowId>(
        &mut self,
        column: &SealedColumn,
        after: Option<T>,
    ) -> Result<Option<T>, Error> {
        let mut last = None;
        for (id, old) in self.read(column, after).await? {
            let row = id.to_string();
            let place = SealLocation { table: column.table, column: column.column, row: &row };
            match self.sealer.reseal(place, &old) {
                Ok(None) => {}
                Ok(Some(new)) => {
                    if self.replace(column, &id, &old, new).await? {
                        self.rotated.resealed += 1;
                    } else {
                        self.rotated.overtaken += 1;
                    }
                }
                Err(error) => self.rotated.refused.push((row, error)),
            }
            last = Some(id);
        }
        Ok(last)
    }

    /// The next rows that are not under the current key.
    async fn read<T: RowId>(
        &self,
        column: &SealedColumn,
        after: Option<T>,
    ) -> Result<Vec<(T, Vec<u8>)>, Error> {
        let SealedColumn { table, id, column, .. } = column;
        let current = self.sealer.current_prefix();
        let length = current.len();
        let further = if after.is_some() { format!("AND {id} > $3") } else { String::new() };
        let sql = format!(
            "SELECT {id}, {column} FROM {table}
             WHERE {column} IS NOT NULL AND substr({column}, 1, {length}) <> $1 {further}
             ORDER BY {id} LIMIT $2"
        );
        let rows = on!(self.database.reader(), |pool| {
            let mut query =
                sqlx::query_as(AssertSqlSafe(sql)).bind(current).bind(i64::from(self.batch));
            if let Some(after) = after {
                query = query.bind(after);
            }
            query.fetch_all(pool).await
        })?;
        Ok(rows)
    }

    /// Writes `new` if the row still holds `old`.
    async fn replace<T: RowId>(
        &self,
        column: &SealedColumn,
        row: &T,
        old: &[u8],
        new: Vec<u8>,
    ) -> Result<bool, Error> {
        let SealedColumn { table, id, column, .. } = column;
        let sql = format!("UPDATE {table} SET {column} = $1 WHERE {id} = $2 AND {column} = $3");
        let row = row.clone();
        let written = on!(self.database.writer(), |pool| sqlx::query(AssertSqlSafe(sql))
            .bind(new)
            .bind(row)
            .bind(old.to_vec())
            .execute(pool)
            .await
            .map(|done| done.rows_affected()))?;
        Ok(written == 1)
    }
}

/// A primary key that both databases can read and write.
trait RowId:
    Clone
    + Display
    + Send
    + Sync
    + Unpin
    + 'static
    + Type<Postgres>
    + Type<Sqlite>
    + for<'q> Encode<'q, Postgres>
    + for<'q> Encode<'q, Sqlite>
    + for<'r> Decode<'r, Postgres>
    + for<'r> Decode<'r, Sqlite>
{
}

impl RowId for Uuid {}
impl RowId for String {}

#[cfg(test)]
mod tests;
