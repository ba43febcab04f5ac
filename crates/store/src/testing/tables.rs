//! Which tables and columns a database has, and that every set of migrations makes the same ones.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;

use futures::future::join_all;

use super::{Databases, TestDatabase};
use crate::{Database, Options, Set, database::Backend};

/// The columns of all tables, as `table.column`.
///
/// # Panics
/// When the database cannot say.
pub async fn columns(database: &Database) -> BTreeSet<String> {
    let names: Vec<String> = match database.reader() {
        Backend::Postgres(pool) => {
            const SQL: &str = "
                SELECT table_name || '.' || column_name FROM information_schema.columns
                WHERE table_schema = current_schema()";
            sqlx::query_scalar(SQL).fetch_all(pool).await.unwrap()
        }
        Backend::Sqlite(pool) => {
            const SQL: &str = "
                SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
                WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
            sqlx::query_scalar(SQL).fetch_all(pool).await.unwrap()
        }
    };
    names.into_iter().collect()
}

/// Lets five replicas migrate a new database of the same sort at once; the columns that come of it.
///
/// # Panics
/// When one of them cannot.
pub async fn migrated_at_once(like: &Database, schema: &str, sets: &[Set]) -> BTreeSet<String> {
    let fresh =
        if like.is_sqlite() { TestDatabase::sqlite() } else { TestDatabase::postgres().await };
    let replicas = join_all((0..5).map(|_| async {
        let options = Options::new(fresh.url()).in_schema(schema);
        let database = Database::open(&options).await.unwrap();
        for set in sets {
            database.migrate(*set).await.unwrap();
        }
        database
    }))
    .await;
    columns(&replicas[0]).await
}

/// The columns that a set and the engine's make, which are the same in both databases.
///
/// # Panics
/// When they are not.
pub async fn same_columns(set: Set) -> BTreeSet<String> {
    let mut found = Vec::new();
    for (_, test) in Databases::both().await {
        let database = test.database().await;
        for set in [Set::Engine, set] {
            database.migrate(set).await.unwrap();
        }
        found.push(columns(&database).await);
    }
    assert_eq!(found[0], found[1]);
    found.remove(0)
}

/// The text columns on PostgreSQL that are not compared byte by byte, as SQLite compares.
///
/// # Panics
/// When the database cannot say.
pub async fn texts_of_other_collation(sets: &[Set]) -> Vec<String> {
    const SQL: &str = "
        SELECT table_name || '.' || column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND data_type = 'text'
          AND table_name NOT LIKE '%_migrations' AND collation_name IS DISTINCT FROM 'C'";
    let test = TestDatabase::postgres().await;
    let database = test.database().await;
    for set in sets {
        database.migrate(*set).await.unwrap();
    }
    let Backend::Postgres(pool) = database.reader() else { unreachable!("it is PostgreSQL") };
    sqlx::query_scalar(SQL).fetch_all(pool).await.unwrap()
}
