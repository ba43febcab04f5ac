//! Rows of instances and operations, many in one statement, on either database.

use sqlx::{Connection as _, PgConnection, SqliteConnection};
use uuid::Uuid;

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
const INSTANCES: &str = "
    INSERT INTO instances (id, global_account, subaccount, service_id, plan_id, plan_name, provider, region,
        platform_region, shoot_name, runtime_id, dashboard_url, ordered, digest, accepted_by, created_at,
        updated_at, deleted_at, standing)";
const OPERATIONS: &str = "
    INSERT INTO operations (id, root, instance, kind, data_version, lane, state, due_at, created_at, started_at,
        updated_at, ended_at)";

mod postgres {
    pub(super) const INSTANCES: &str = "
        SELECT id, global_account, subaccount, service_id, plan_id, plan_name, provider, region, 'cf-eu10', shoot_name,
            runtime_id::uuid, 'https://dashboard.test', decode(ordered, 'hex'), '', accepted_by::uuid,
            to_timestamp(created_at / 1e6), to_timestamp(created_at / 1e6), to_timestamp(deleted_at / 1e6), standing
        FROM jsonb_to_recordset($1::jsonb) AS given (id text, global_account text, subaccount text, service_id text,
            plan_id text, plan_name text, provider text, region text, shoot_name text, runtime_id text, ordered text,
            accepted_by text, created_at float8, deleted_at float8, standing text)";
    pub(super) const OPERATIONS: &str = "
        SELECT id::uuid, id::uuid, instance, kind, 1, lane, state, to_timestamp(due_at / 1e6),
            to_timestamp(created_at / 1e6), to_timestamp(created_at / 1e6),
            to_timestamp(COALESCE(ended_at, created_at) / 1e6), to_timestamp(ended_at / 1e6)
        FROM jsonb_to_recordset($1::jsonb) AS given (id text, instance text, kind text, lane text, state text,
            due_at float8, created_at float8, ended_at float8)";
    pub(super) const INPUTS: &str = "
        INSERT INTO operation_inputs SELECT id::uuid, decode(input, 'hex')
        FROM jsonb_to_recordset($1::jsonb) AS given (id text, input text)";
    pub(super) const DATA: &str = "
        INSERT INTO operation_data SELECT id::uuid, decode(data, 'hex')
        FROM jsonb_to_recordset($1::jsonb) AS given (id text, data text)";
}

mod sqlite {
    pub(super) const INSTANCES: &str = "
        SELECT value->>'id', value->>'global_account', value->>'subaccount', value->>'service_id', value->>'plan_id',
            value->>'plan_name', value->>'provider', value->>'region', 'cf-eu10', value->>'shoot_name',
            unhex(value->>'runtime_id'), 'https://dashboard.test', unhex(value->>'ordered'), x'',
            unhex(value->>'accepted_by'), value->>'created_at', value->>'created_at', value->>'deleted_at',
            value->>'standing'
        FROM json_each($1)";
    pub(super) const OPERATIONS: &str = "
        SELECT unhex(value->>'id'), unhex(value->>'id'), value->>'instance', value->>'kind', 1, value->>'lane',
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

    /// Stores operations and instances, each as the text of a JSON list.
    pub(crate) async fn store(&mut self, operations: &str, instances: &str) -> anyhow::Result<()> {
        match self {
            Self::Postgres(connection) => {
                let mut transaction = connection.begin().await?;
                for (text, given) in [
                    (format!("{OPERATIONS} {}", postgres::OPERATIONS), operations),
                    (postgres::INPUTS.to_owned(), operations),
                    (postgres::DATA.to_owned(), operations),
                    (format!("{INSTANCES} {}", postgres::INSTANCES), instances),
                ] {
                    let statement = sqlx::query(sqlx::AssertSqlSafe(text)).bind(given);
                    statement.execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
            }
            Self::Sqlite(connection) => {
                let mut transaction = connection.begin().await?;
                for (text, given) in [
                    (format!("{OPERATIONS} {}", sqlite::OPERATIONS), operations),
                    (sqlite::INPUTS.to_owned(), operations),
                    (sqlite::DATA.to_owned(), operations),
                    (format!("{INSTANCES} {}", sqlite::INSTANCES), instances),
                ] {
                    let statement = sqlx::query(sqlx::AssertSqlSafe(text)).bind(given);
                    statement.execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
            }
        }
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
