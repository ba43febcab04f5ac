//! The tables are the same in both databases, and stand beside the engine's.

use std::collections::BTreeSet;

use store::{Database, Options, Set, database::Backend, testing::TestDatabase};

use crate::bench::Bench;

pub(crate) async fn migrations_run_twice_and_at_once_beside_the_engines(b: Bench) {
    let fresh = if b.database.is_sqlite() {
        TestDatabase::sqlite()
    } else {
        TestDatabase::postgres().await
    };

    let replicas = futures::future::join_all((0..5).map(|_| async {
        let options = Options::new(fresh.url()).in_schema("broker");
        let database = Database::open(&options).await.unwrap();
        for set in [Set::Engine, Set::Broker, Set::Broker] {
            database.migrate(set).await.unwrap();
        }
        database
    }))
    .await;

    let found = columns(&replicas[0]).await;
    assert!(found.contains("instances.shoot_name") && found.contains("operations.due_at"));
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    let mut found = Vec::new();
    for test in [TestDatabase::sqlite(), TestDatabase::postgres().await] {
        let database = test.database().await;
        database.migrate(Set::Broker).await.unwrap();
        found.push(columns(&database).await);
    }

    assert!(found[0].len() > 28);
    assert_eq!(found[0], found[1]);
}

async fn columns(database: &Database) -> BTreeSet<String> {
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
