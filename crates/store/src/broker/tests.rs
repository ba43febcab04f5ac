//! Every statement goes by an index: on PostgreSQL a prepared plan that reads a whole table, made while
//! the table was empty, would do so for ever.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, raw_sql};

use super::{accept, accept_new, changes, instances, limits, list, removed, states};
use crate::{Connection, Set, database::Backend, testing::Databases};

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    for (name, test) in Databases::both().await {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Broker).await.unwrap();
        let mut transaction = database.begin().await.unwrap();
        let sqlite = database.is_sqlite();
        let lists =
            [instances::LISTS, limits::TEXTS, list::LISTS, removed::LISTS, states::LISTS].concat();
        let lists = lists
            .into_iter()
            .map(|(text, index)| (if sqlite { text.sqlite } else { text.postgres }, index));
        let texts =
            [accept::TEXTS, accept_new::TEXTS, changes::TEXTS, instances::TEXTS, states::TEXTS];

        for (text, index) in texts.concat().into_iter().chain(lists) {
            let plan = plan(transaction.connection(), text).await;
            assert!(reads_all(&plan).is_none(), "{name}: {text}\n{plan}");
            assert!(plan.contains(index), "{name}: {text}\n{plan}");
        }

        let whole = "SELECT service_id FROM instances ORDER BY provider";
        let whole = plan(transaction.connection(), whole).await;
        assert!(reads_all(&whole).is_some(), "{name}: {whole}");
    }
}

/// What a plan that reads a whole table says, or one that sorts what it has read.
const WHOLE: [&str; 6] =
    ["Seq Scan", "SCAN instances", "SCAN operations", "SCAN runtime_states", "Sort", "TEMP B-TREE"];

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
            let parameters = (1..20).take_while(|n| text.contains(&format!("${n}"))).count();
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
