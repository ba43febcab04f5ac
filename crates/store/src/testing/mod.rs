//! Databases for tests: SQLite in a folder of its own, PostgreSQL on a server that the run shares.
//!
//! What a reader would get wrong: nothing here skips. Without an installed PostgreSQL the tests fail
//! and say what to install.

mod binaries;
mod folder;
mod hands;
mod keeper;
pub mod originals;
mod prepared;
mod promises;
mod server;
mod shared;
mod small_disk;
mod tables;
#[cfg(test)]
mod tests;
mod trials;

use base::failure::chain;
use sqlx::{AssertSqlSafe, Connection, PgConnection, raw_sql};
use uuid::Uuid;

use crate::{Database, Options};

pub use folder::Folder;
pub use hands::ManualReplica;
pub use prepared::{PreparedDatabase, Rows, Sort};
pub use server::PostgresServer;
pub use small_disk::{Part, SmallDisk};
pub use tables::{columns, migrated_at_once, same_columns, texts_of_other_collation};
pub use trials::Trials;

/// The databases that every promise of the store is tested on.
#[derive(Debug)]
pub struct Databases;

impl Databases {
    /// One new, empty database of each sort, under the names `sqlite` and `postgres`.
    ///
    /// # Panics
    /// When one of them cannot be made; the message says what to do.
    pub async fn both() -> Vec<(&'static str, TestDatabase)> {
        vec![("sqlite", TestDatabase::sqlite()), ("postgres", TestDatabase::postgres().await)]
    }
}

/// A database of one test, removed with this value.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
    /// Held for its end.
    _kept: DatabaseGuard,
}

#[derive(Debug)]
#[expect(dead_code, reason = "never read: what is inside removes itself when it is dropped")]
enum DatabaseGuard {
    Sqlite(Folder),
    Postgres(PostgresDatabase),
}

impl TestDatabase {
    /// A new SQLite file.
    ///
    /// # Panics
    /// When there is no room for temporary files.
    pub fn sqlite() -> Self {
        let folder = Folder::new("sqlite").unwrap_or_else(|error| panic!("{error}"));
        let url = format!("sqlite://{}", folder.path().join("kcp.db").display());
        Self { url, _kept: DatabaseGuard::Sqlite(folder) }
    }

    /// A new PostgreSQL database.
    ///
    /// # Panics
    /// When there is no PostgreSQL; the message says what to install.
    pub async fn postgres() -> Self {
        let server = shared::Shared::join().await.unwrap_or_else(|error| panic!("{error}"));
        let database = PostgresDatabase {
            name: format!("test_{}", Uuid::new_v4().simple()),
            admin: server.url("postgres"),
        };
        let create = format!("CREATE DATABASE {} TEMPLATE template1", database.name);
        run(&database.admin, create).await.unwrap_or_else(|error| panic!("{error}"));
        Self { url: server.url(&database.name), _kept: DatabaseGuard::Postgres(database) }
    }

    /// Its address, as settings have it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens it, without any tables; every call opens connections of its own.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub async fn database(&self) -> Database {
        let options = Options::new(self.url.as_str());
        Database::open(&options).await.unwrap_or_else(|error| panic!("{}", chain(&error)))
    }
}

#[derive(Debug)]
struct PostgresDatabase {
    name: String,
    admin: String,
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let admin = std::mem::take(&mut self.admin);
        // On a thread of its own, because the test's runtime is busy running the test.
        let dropped = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
            runtime.block_on(run(&admin, drop)).ok()
        });
        // What stays behind goes with the server.
        let _ = dropped.join();
    }
}

async fn run(url: &str, statement: String) -> Result<(), sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
    connection.close().await
}
