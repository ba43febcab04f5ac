//! Every statement goes by an index: on PostgreSQL a prepared plan that reads a whole table, made while
//! the table was empty, would do so for ever.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, raw_sql};

use super::{accept, changes, intents, runtimes};
use crate::{Connection, Set, database::Backend, testing::Databases};

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    for (name, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Provisioner).await.unwrap();
        let mut transaction = database.begin().await.unwrap();

        for (text, index) in
            [accept::TEXTS, changes::TEXTS, intents::TEXTS, runtimes::TEXTS].concat()
        {
            let plan = plan(transaction.connection(), text).await;
            assert!(reads_all(&plan).is_none(), "{name}: {text}\n{plan}");
            assert!(plan.contains(index), "{name}: {text}\n{plan}");
        }

        let whole =
            plan(transaction.connection(), "SELECT tenant FROM runtimes ORDER BY subaccount");
        let whole = whole.await;
        assert!(reads_all(&whole).is_some(), "{name}: {whole}");
    }
}

/// The line of a plan that reads a whole table, or sorts what it has read.
fn reads_all(plan: &str) -> Option<&str> {
    let whole = |line: &&str| {
        ["Seq Scan", "SCAN ", "Sort", "TEMP B-TREE"].iter().any(|word| line.contains(word))
    };
    plan.lines().find(whole)
}

async fn plan(connection: Connection<'_>, text: &str) -> String {
    match connection {
        Backend::Postgres(connection) => {
            let parameters = (1..10).take_while(|n| text.contains(&format!("${n}"))).count();
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
