//! A database of an original program: one connection, one transaction that only reads.
//!
//! The transaction sees the database as it was when it began, whatever the original does meanwhile. Long lists come through
//! cursors, so that neither side holds them in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use secrecy::{ExposeSecret, SecretString};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, raw_sql};

use super::Error;
use crate::database::postgres_options;

/// How long the server may take to let us in.
const PATIENCE: Duration = Duration::from_secs(15);

const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";
const COLUMNS: &str = "
    SELECT table_name::text, column_name::text FROM information_schema.columns
    WHERE table_schema = ANY(current_schemas(false))";

/// An open source.
#[derive(Debug)]
pub(super) struct Source {
    connection: PgConnection,
    /// The columns of each table.
    tables: BTreeMap<String, BTreeSet<String>>,
}

/// A table and the columns that nothing can do without.
pub(super) type RequiredColumns = (&'static str, &'static [&'static str]);

impl Source {
    /// Opens the database of `program`, and sees whether it is one.
    pub(super) async fn open(
        url: &SecretString,
        program: &'static str,
        needed: &[RequiredColumns],
    ) -> Result<Self, Error> {
        let url = url.expose_secret();
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(Error::NotPostgres);
        }
        let connect = postgres_options(url).map_err(|_| Error::NotPostgres)?;
        let location = format!("{}:{}", connect.get_host(), connect.get_port());
        let connect = connect.application_name("kcp import").options([
            ("timezone", "UTC"),
            ("idle_in_transaction_session_timeout", "0"),
            ("statement_timeout", "0"),
        ]);
        let opened = tokio::time::timeout(PATIENCE, PgConnection::connect_with(&connect)).await;
        let connection = match opened {
            Ok(Ok(connection)) => connection,
            Ok(Err(source)) => return Err(Error::Unreachable { location, source }),
            Err(_) => return Err(Error::Silent { location, seconds: PATIENCE.as_secs() }),
        };
        let mut source = Self { connection, tables: BTreeMap::new() };
        source.begin().await.map_err(reading("the first look"))?;
        source.check(program, needed)?;
        Ok(source)
    }

    async fn begin(&mut self) -> Result<(), sqlx::Error> {
        raw_sql(BEGIN).execute(&mut self.connection).await?;
        let columns: Vec<(String, String)> =
            sqlx::query_as(COLUMNS).fetch_all(&mut self.connection).await?;
        for (table, column) in columns {
            self.tables.entry(table).or_default().insert(column);
        }
        Ok(())
    }

    fn check(&self, program: &'static str, needed: &[RequiredColumns]) -> Result<(), Error> {
        let mut missing = Vec::new();
        for (table, columns) in needed {
            match self.tables.get(*table) {
                None => missing.push(format!("table {table}")),
                Some(there) => missing.extend(
                    columns
                        .iter()
                        .filter(|column| !there.contains(**column))
                        .map(|column| format!("column {table}.{column}")),
                ),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::Missing { program, missing: missing.join(", ") })
    }

    /// Whether there is such a table.
    pub(super) fn has_table(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// Whether there is such a column.
    pub(super) fn has(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).is_some_and(|columns| columns.contains(column))
    }

    /// How many rows a table has; none when there is no such table.
    pub(super) async fn rows(&mut self, table: &'static str) -> Result<u64, Error> {
        if !self.has_table(table) {
            return Ok(0);
        }
        let count =
            sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!("SELECT count(*) FROM {table}")));
        let count =
            count.fetch_one(&mut self.connection).await.map_err(reading("counting rows"))?;
        Ok(count.unsigned_abs())
    }

    /// Opens a cursor over the rows of a query. All of them will be read, and the tables may never have been analysed: joined row by
    /// row, a list would be gathered again for each of them.
    pub(super) async fn declare(&mut self, cursor: &str, query: &str) -> Result<(), Error> {
        let text = format!(
            "SET LOCAL enable_nestloop = off; SET LOCAL cursor_tuple_fraction = 1;
             DECLARE {cursor} NO SCROLL CURSOR FOR {query};
             SET LOCAL enable_nestloop = on"
        );
        let declared = raw_sql(AssertSqlSafe(text)).execute(&mut self.connection).await;
        declared.map(drop).map_err(reading("opening a list"))
    }

    /// The connection, for statements.
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

/// A failed statement.
pub(super) fn reading(doing: &'static str) -> impl Fn(sqlx::Error) -> Error {
    move |source| Error::Read { doing, source }
}
