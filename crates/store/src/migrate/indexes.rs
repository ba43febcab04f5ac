//! Indexes of large tables on PostgreSQL, built while others write (`docs/decisions/0150`).
//!
//! What a reader would get wrong: the books do not know them; the catalogue of the server does. An index that was not built to its end is
//! there and serves nobody: it is dropped and built again. The migrations' own lock must not be held meanwhile: building waits for every
//! statement that began before it, and a replica that waits for that lock is one.

use std::time::Duration;

use base::Clock;
use sqlx::{AssertSqlSafe, PgConnection, raw_sql};

/// Name, table and statement of each index.
pub(super) type Indexes = &'static [(&'static str, &'static str, &'static str)];

/// One index of a database is built at a time: building one waits for the other.
const LOCK: i64 = 0x6b63_7069_6478;
/// How often a replica looks whether another one has built an index.
const LOOK: Duration = Duration::from_millis(200);

/// Builds the indexes that are missing, or waits until another replica has. Dropped in the middle, it leaves what a crash leaves.
pub(super) async fn build(connection: &mut PgConnection, indexes: Indexes) -> sqlx::Result<()> {
    for (name, table, text) in indexes {
        let clock = Clock::running();
        while is_valid(connection, name).await? != Some(true) {
            if !lock(connection).await? {
                clock.sleep(LOOK).await;
                continue;
            }
            let built = build_one(connection, name, table, text).await;
            unlock(connection).await?;
            built?;
        }
    }
    Ok(())
}

async fn build_one(
    connection: &mut PgConnection,
    name: &str,
    table: &str,
    text: &str,
) -> sqlx::Result<()> {
    if is_valid(connection, name).await? == Some(false) {
        tracing::warn!(index = name, "index was not built to its end, building it again");
        run(connection, format!("DROP INDEX CONCURRENTLY IF EXISTS {name}")).await?;
    }
    if is_empty(connection, table).await? {
        // There is nothing to wait for.
        return run(connection, text.replacen("CONCURRENTLY ", "", 1)).await;
    }
    tracing::info!(index = name, table, "building an index while others write");
    run(connection, text.to_owned()).await
}

/// Whether an index can be used; none when it is not there.
pub(super) async fn is_valid(
    connection: &mut PgConnection,
    name: &str,
) -> sqlx::Result<Option<bool>> {
    sqlx::query_scalar("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)")
        .bind(name)
        .fetch_optional(connection)
        .await
}

async fn is_empty(connection: &mut PgConnection, table: &str) -> sqlx::Result<bool> {
    let text = format!("SELECT NOT EXISTS (SELECT 1 FROM {table})");
    sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(connection).await
}

/// Does not wait: a statement that waits would be waited for.
async fn lock(connection: &mut PgConnection) -> sqlx::Result<bool> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK).fetch_one(connection).await
}

async fn unlock(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(LOCK).execute(connection).await.map(drop)
}

async fn run(connection: &mut PgConnection, text: String) -> sqlx::Result<()> {
    raw_sql(AssertSqlSafe(text)).execute(connection).await.map(drop)
}
