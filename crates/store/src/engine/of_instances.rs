//! Operations of many instances at once: two statements, however many instances and operations there are.

use ::engine::storage::{OperationId, Snapshot};
use base::failure::chain;
use sqlx_macros::FromRow;
use tracing::error;
use uuid::Uuid;

use super::{
    EngineStore, read,
    rows::{self, OperationRow, columns},
};
use crate::{
    Error, Sealer,
    database::Backend,
    sql::{Text, list},
};

macro_rules! of_instances {
    ($any:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM operations o WHERE o.instance ",
            $any,
            " ORDER BY o.instance, o.created_at, o.id"
        )
    };
}
const OF_POSTGRES: &str = of_instances!("= ANY ($1)");
const OF_SQLITE: &str = of_instances!("IN (SELECT value FROM json_each($1))");

// The newest of each instance, however many it has.
const NEWEST: Text = Text {
    postgres: concat!(
        "SELECT ",
        columns!(),
        " FROM jsonb_array_elements_text($1::jsonb) AS given (instance)
         CROSS JOIN LATERAL (
             SELECT * FROM operations WHERE operations.instance = given.instance COLLATE \"C\"
             ORDER BY operations.created_at DESC, operations.id DESC LIMIT $2) o"
    ),
    sqlite: concat!(
        "SELECT ",
        columns!(),
        " FROM json_each($1) given CROSS JOIN operations o ON o.id IN (
             SELECT n.id FROM operations n WHERE n.instance = given.value
             ORDER BY n.created_at DESC, n.id DESC LIMIT $2)"
    ),
};

/// Every statement with texts of its own, with the index it goes by.
#[cfg(test)]
pub(crate) const LISTS: &[(Text, &str)] = &[(NEWEST, "operations_of_instance")];

macro_rules! of_ids {
    ($any:literal) => {
        concat!("SELECT ", columns!(), " FROM operations o WHERE o.id ", $any)
    };
}
const IDS_POSTGRES: &str = of_ids!("= ANY ($1)");
const IDS_SQLITE: &str = of_ids!("IN (SELECT unhex(value) FROM json_each($1))");

// $2: of which the input is read too. A large value that is not wanted is not fetched.
macro_rules! contents {
    ($any:literal, $with_input:literal) => {
        concat!(
            "SELECT i.operation_id, CASE WHEN i.operation_id ",
            $with_input,
            " THEN i.input END AS input, d.data FROM operation_inputs i
             JOIN operation_data d ON d.operation_id = i.operation_id WHERE i.operation_id ",
            $any
        )
    };
}
const CONTENTS_POSTGRES: &str = contents!("= ANY ($1)", "= ANY ($2)");
const CONTENTS_SQLITE: &str = contents!(
    "IN (SELECT unhex(value) FROM json_each($1))",
    "IN (SELECT unhex(value) FROM json_each($2))"
);

/// Input and data of an operation. Neither is printed: both hold secrets.
pub struct Content {
    /// The operation.
    pub operation: OperationId,
    /// The request; empty where it was not to be read.
    pub input: Vec<u8>,
    /// Data of the steps.
    pub data: Vec<u8>,
}

#[derive(FromRow)]
struct ContentRow {
    operation_id: Uuid,
    input: Option<Vec<u8>>,
    data: Vec<u8>,
}

impl EngineStore {
    /// All operations of some instances without their input and data: instance by instance, oldest first.
    pub async fn of_instances(&self, instances: &[&str]) -> Result<Vec<Snapshot>, Error> {
        let found: Vec<OperationRow> = match self.database.reader() {
            Backend::Postgres(pool) => {
                sqlx::query_as(OF_POSTGRES).bind(instances).fetch_all(pool).await?
            }
            Backend::Sqlite(pool) => {
                let instances = rows::written(&instances)?;
                sqlx::query_as(OF_SQLITE).bind(instances).fetch_all(pool).await?
            }
        };
        found.into_iter().map(|row| row.into_snapshot(Vec::new(), Vec::new())).collect()
    }

    /// The newest operations of each of some instances, at most `most` of each, without their input and data and in no order.
    pub async fn newest_of_instances(
        &self,
        instances: &[&str],
        most: u32,
    ) -> Result<Vec<Snapshot>, Error> {
        let found: Vec<OperationRow> = on!(self.database.reader(), NEWEST, |text, pool| {
            sqlx::query_as(text).bind(list(instances)).bind(i64::from(most)).fetch_all(pool).await
        })?;
        found.into_iter().map(|row| row.into_snapshot(Vec::new(), Vec::new())).collect()
    }

    /// These operations without their input and data, in no order.
    pub async fn of_ids(&self, ids: &[OperationId]) -> Result<Vec<Snapshot>, Error> {
        let found: Vec<OperationRow> = match self.database.reader() {
            Backend::Postgres(pool) => {
                sqlx::query_as(IDS_POSTGRES).bind(ids).fetch_all(pool).await?
            }
            Backend::Sqlite(pool) => {
                let ids = read::listed(ids.iter())?;
                sqlx::query_as(IDS_SQLITE).bind(ids).fetch_all(pool).await?
            }
        };
        found.into_iter().map(|row| row.into_snapshot(Vec::new(), Vec::new())).collect()
    }

    /// Input and data of some operations, in no order; an error when one of them cannot be read.
    pub async fn contents(&self, ids: &[OperationId]) -> Result<Vec<Content>, Error> {
        let found = self.sealed_contents(ids, ids).await?;
        found.iter().map(|row| row.open(&self.sealer)).collect()
    }

    /// The same without those that cannot be read: one of them must not fail a page.
    pub async fn readable_contents(&self, ids: &[OperationId]) -> Result<Vec<Content>, Error> {
        self.readable_data(ids, ids).await
    }

    /// The data of some operations, and of some of them also the input. Opening what nobody looks at costs more than reading the rows.
    pub async fn readable_data(
        &self,
        ids: &[OperationId],
        with_input: &[OperationId],
    ) -> Result<Vec<Content>, Error> {
        let opened = |row: &ContentRow| match row.open(&self.sealer) {
            Ok(content) => Some(content),
            Err(error) => {
                error!(operation.id = %row.operation_id, error = %chain(&error), "operation cannot be read, leaving its content out of a list");
                None
            }
        };
        Ok(self.sealed_contents(ids, with_input).await?.iter().filter_map(opened).collect())
    }

    async fn sealed_contents(
        &self,
        ids: &[OperationId],
        with_input: &[OperationId],
    ) -> Result<Vec<ContentRow>, Error> {
        Ok(match self.database.reader() {
            Backend::Postgres(pool) => {
                let query = sqlx::query_as(CONTENTS_POSTGRES).bind(ids);
                query.bind(with_input).fetch_all(pool).await?
            }
            Backend::Sqlite(pool) => {
                let query = sqlx::query_as(CONTENTS_SQLITE).bind(read::listed(ids.iter())?);
                query.bind(read::listed(with_input.iter())?).fetch_all(pool).await?
            }
        })
    }
}

impl ContentRow {
    fn open(&self, sealer: &Sealer) -> Result<Content, Error> {
        Ok(Content {
            operation: self.operation_id,
            input: match &self.input {
                Some(input) => rows::open_input(sealer, self.operation_id, input)?,
                None => Vec::new(),
            },
            data: rows::open_data(sealer, self.operation_id, &self.data)?,
        })
    }
}
