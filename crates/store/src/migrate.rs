//! Migrations: embedded, forward only, in sets that each keep their own books.
//!
//! Several replicas may start at once: PostgreSQL lets one of them migrate while the others wait on
//! an advisory lock, SQLite does all of it inside one write transaction. Indexes of large tables are built afterwards on PostgreSQL,
//! so that nobody waits for them.

mod indexes;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use sqlx::{
    Connection as _, PgConnection, SqlStr, SqliteConnection,
    migrate::{Migration, MigrationType, Migrator},
};

use crate::{
    Error,
    database::{Backend, Database},
};
use indexes::Indexes;

/// A set of tables that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Operations, their journal, and the replicas that work on them.
    Engine,
    /// Instances, and what was sent for their runtimes; beside the engine's.
    Broker,
    /// Runtimes, and what was begun before there was one; beside the engine's.
    Provisioner,
}

/// Version, description and statements of each migration, in order.
type Files = &'static [(i64, &'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

impl Set {
    fn migrations(self, sqlite: bool) -> Vec<Migration> {
        let files = match self {
            Self::Engine if sqlite => ENGINE_SQLITE,
            Self::Engine => ENGINE_POSTGRES,
            Self::Broker if sqlite => BROKER_SQLITE,
            Self::Broker => BROKER_POSTGRES,
            Self::Provisioner if sqlite => PROVISIONER_SQLITE,
            Self::Provisioner => PROVISIONER_POSTGRES,
        };
        let migration = |&(version, description, sql): &(i64, &'static str, &'static str)| {
            let sql = SqlStr::from_static(sql);
            Migration::new(version, description.into(), MigrationType::Simple, sql, false)
        };
        files.iter().map(migration).collect()
    }

    /// The indexes that PostgreSQL builds while others write.
    fn indexes(self) -> Indexes {
        match self {
            Self::Engine => ENGINE_POSTGRES_INDEXES,
            Self::Broker => BROKER_POSTGRES_INDEXES,
            Self::Provisioner => PROVISIONER_POSTGRES_INDEXES,
        }
    }

    /// The table that says which migrations have run.
    fn books(self) -> &'static str {
        match self {
            Self::Engine => "engine_migrations",
            Self::Broker => "broker_migrations",
            Self::Provisioner => "provisioner_migrations",
        }
    }
}

impl Database {
    /// Brings one set of tables up to date. Safe to call from several replicas at once.
    pub async fn migrate(&self, set: Set) -> Result<(), Error> {
        let mut migrator = Migrator {
            migrations: Cow::Owned(set.migrations(self.is_sqlite())),
            table_name: Cow::Borrowed(set.books()),
            // An older replica meets what a newer one has added, and goes on.
            ignore_missing: true,
            ..Migrator::DEFAULT
        };
        if let Some(schema) = self.schema() {
            migrator.create_schema(schema.to_owned());
        }
        match self.writer() {
            Backend::Postgres(pool) => {
                // A connection of its own: the lock ends with it, also when a migration fails.
                let options = pool.connect_options().as_ref().clone();
                let options = options.options([("statement_timeout", "0")]);
                let mut connection = PgConnection::connect_with(&options).await?;
                let done = migrator.run_direct(None, &mut connection, false).await;
                let built = match &done {
                    Ok(()) => indexes::build(&mut connection, set.indexes()).await,
                    Err(_) => Ok(()),
                };
                let closed = connection.close().await;
                done?;
                built?;
                closed?;
            }
            Backend::Sqlite(pool) => {
                // Likewise: what a migration that fails leaves behind ends with the connection.
                let options = pool.connect_options().as_ref().clone();
                let mut connection = SqliteConnection::connect_with(&options).await?;
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                migrator.run_direct(None, &mut *transaction, false).await?;
                transaction.commit().await?;
                connection.close().await?;
            }
        }
        Ok(())
    }
}
