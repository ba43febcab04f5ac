//! Rows of instances and operations, many in one statement, on either database.

use sqlx::{Connection as _, PgConnection, SqliteConnection};
use uuid::Uuid;

use super::{copied, generate};

/// A connection of the benchmark itself.
pub(crate) enum Rows {
    Postgres(Box<PgConnection>),
    Sqlite(Box<SqliteConnection>),
}

/// The order of the only instance; the id, the input and the data of its operation.
pub(crate) type OnlyOrder = (Vec<u8>, Uuid, Vec<u8>, Vec<u8>);

const ONLY: &str = "
    SELECT instances.ordered, operations.id, operation_inputs.input, operation_data.data
    FROM instances
    JOIN operations ON operations.instance = instances.id
    JOIN operation_inputs ON operation_inputs.operation_id = operations.id
    JOIN operation_data ON operation_data.operation_id = operations.id";
mod sqlite {
    pub(super) const INSTANCES: &str = "
        INSERT INTO instances (id, global_account, subaccount, service_id, plan_id, plan_name, provider, region,
            platform_region, shoot_name, runtime_id, dashboard_url, ordered, digest, accepted_by, created_at,
            updated_at, deleted_at, standing)
        SELECT value->>'id', value->>'global_account', value->>'subaccount', value->>'service_id', value->>'plan_id',
            value->>'plan_name', value->>'provider', value->>'region', 'cf-eu10', value->>'shoot_name',
            unhex(value->>'runtime_id'), 'https://dashboard.test', unhex(value->>'ordered'), x'',
            unhex(value->>'accepted_by'), value->>'created_at', value->>'created_at', value->>'deleted_at',
            value->>'standing'
        FROM json_each($1)";
    pub(super) const OPERATIONS: &str = "
        INSERT INTO operations (id, root, instance, kind, data_version, epoch, lane, state, due_at, created_at, started_at,
            updated_at, ended_at)
        SELECT unhex(value->>'id'), unhex(value->>'id'), value->>'instance', value->>'kind', 1, 1, value->>'lane',
            value->>'state', value->>'due_at', value->>'created_at', value->>'created_at',
            COALESCE(value->>'ended_at', value->>'created_at'), value->>'ended_at'
        FROM json_each($1)";
    pub(super) const INPUTS: &str = "
        INSERT INTO operation_inputs SELECT unhex(value->>'id'), unhex(value->>'input') FROM json_each($1)";
    pub(super) const DATA: &str = "
        INSERT INTO operation_data SELECT unhex(value->>'id'), unhex(value->>'data') FROM json_each($1)";
}

impl Rows {
    pub(crate) async fn only_order(&mut self) -> sqlx::Result<OnlyOrder> {
        match self {
            Self::Postgres(connection) => sqlx::query_as(ONLY).fetch_one(&mut **connection).await,
            Self::Sqlite(connection) => sqlx::query_as(ONLY).fetch_one(&mut **connection).await,
        }
    }

    /// Removes every instance and operation.
    pub(crate) async fn empty(&mut self) -> sqlx::Result<()> {
        for text in ["DELETE FROM instances", "DELETE FROM operations", "DELETE FROM replicas"] {
            match self {
                Self::Postgres(connection) => {
                    sqlx::raw_sql(text).execute(&mut **connection).await?;
                }
                Self::Sqlite(connection) => {
                    sqlx::raw_sql(text).execute(&mut **connection).await?;
                }
            }
        }
        Ok(())
    }

    /// Stores operations and instances.
    pub(crate) async fn store(&mut self, rows: &generate::Rows) -> anyhow::Result<()> {
        let connection = match self {
            Self::Postgres(connection) => return copied::store(connection, rows).await,
            Self::Sqlite(connection) => connection,
        };
        let operations = serde_json::to_string(&rows.operations)?;
        let instances = serde_json::to_string(&rows.instances)?;
        let mut transaction = connection.begin().await?;
        for (text, given) in [
            (sqlite::OPERATIONS, &operations),
            (sqlite::INPUTS, &operations),
            (sqlite::DATA, &operations),
            (sqlite::INSTANCES, &instances),
        ] {
            sqlx::query(text).bind(given).execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Does what a database that has grown slowly has done long ago.
    pub(crate) async fn settle(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Postgres(connection) => {
                for text in ["VACUUM ANALYZE", "CHECKPOINT"] {
                    sqlx::raw_sql(text).execute(&mut **connection).await?;
                }
            }
            Self::Sqlite(connection) => {
                sqlx::raw_sql("PRAGMA optimize").execute(&mut **connection).await?;
            }
        }
        Ok(())
    }
}
