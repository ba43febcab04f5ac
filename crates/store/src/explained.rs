//! How a database goes about a statement.
//!
//! Every statement goes by an index: on PostgreSQL a prepared plan that reads a whole table, made while the table was empty,
//! would do so for ever.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, raw_sql};

use crate::{Connection, Database, database::Backend};

/// Words in query plans that read a whole table, or that sort.
const WHOLE: [&str; 8] = [
    "Seq Scan",
    "SCAN instances",
    "SCAN intents",
    "SCAN operations",
    "SCAN runtime_states",
    "SCAN runtimes",
    "Sort",
    "TEMP B-TREE",
];

/// Every statement goes by the index beside it, and by some index where none is named.
pub(crate) async fn go_by_indexes(
    database: &Database,
    texts: impl IntoIterator<Item = (&'static str, &'static str)>,
) {
    let mut transaction = database.begin().await.unwrap();
    for (text, index) in texts {
        let plan = plan(transaction.connection(), text).await;
        assert!(reads_all(&plan).is_none(), "{text}\n{plan}");
        assert!(plan.contains(index), "{text}\n{plan}");
    }
}

/// A statement that reads a whole table is seen to do so.
pub(crate) async fn reads_the_whole(database: &Database, text: &str) {
    let mut transaction = database.begin().await.unwrap();
    let plan = plan(transaction.connection(), text).await;
    assert!(reads_all(&plan).is_some(), "{text}\n{plan}");
}

/// How many rows a statement with these parameters reads on PostgreSQL.
pub(crate) async fn rows_read(database: &Database, text: &str, parameters: &str) -> i64 {
    const READ: &str = "
        SELECT COALESCE(sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)), 0)::bigint
        FROM pg_stat_xact_user_tables";
    let mut transaction = database.begin().await.unwrap();
    let Backend::Postgres(connection) = transaction.connection() else { return 0 };
    let sql = format!("PREPARE it AS {text}; EXECUTE it({parameters}); DEALLOCATE it");
    raw_sql(AssertSqlSafe(sql)).fetch_all(&mut *connection).await.unwrap();
    let read = sqlx::query_scalar(READ).fetch_one(connection).await.unwrap();
    transaction.rollback().await.unwrap();
    read
}

/// The line of a plan that reads a whole table, or sorts. Counting everything reads a whole index.
fn reads_all(plan: &str) -> Option<&str> {
    let whole = |line: &&str| {
        WHOLE.iter().any(|word| line.contains(word)) && !line.contains("USING COVERING INDEX")
    };
    plan.lines().find(whole)
}

async fn plan(connection: Connection<'_>, text: &str) -> String {
    match connection {
        Backend::Postgres(connection) => {
            let parameters = (1..40).take_while(|n| text.contains(&format!("${n}"))).count();
            let nulls = vec!["NULL"; parameters].join(", ");
            let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
            let sql = format!("PREPARE it AS {text}; EXPLAIN EXECUTE it{nulls}; DEALLOCATE it");
            let lines = raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await.unwrap();
            lines.iter().map(|line| line.get::<String, _>(0) + "\n").collect()
        }
        Backend::Sqlite(connection) => sqlite_plan(connection, text).await,
    }
}

async fn sqlite_plan(connection: &mut SqliteConnection, text: &str) -> String {
    let sql = format!("EXPLAIN QUERY PLAN {text}");
    let lines = raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await.unwrap();
    lines.iter().map(|line| line.get::<String, _>("detail") + "\n").collect()
}
