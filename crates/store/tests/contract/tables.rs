//! The tables are the same in both databases, and there is one way to make them.

use std::collections::BTreeSet;

use store::{Database, Options, Set, database::Backend, testing::TestDatabase};

use crate::bench::OnDatabase;

pub(crate) async fn migrations_run_twice_and_at_once(bench: OnDatabase) {
    bench.database.migrate(Set::Engine).await.unwrap();

    let fresh = if bench.database.is_sqlite() {
        TestDatabase::sqlite()
    } else {
        TestDatabase::postgres().await
    };
    let replicas = futures::future::join_all((0..5).map(|_| async {
        let options = Options::new(fresh.url()).in_schema("broker");
        let database = Database::open(&options).await.unwrap();
        database.migrate(Set::Engine).await.unwrap();
        database.migrate(Set::Engine).await.unwrap();
        database
    }))
    .await;

    assert!(columns(&replicas[0]).await.contains("operations.due_at"));
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    let mut found = Vec::new();
    for test in [TestDatabase::sqlite(), TestDatabase::postgres().await] {
        let database = test.database().await;
        database.migrate(Set::Engine).await.unwrap();
        found.push(columns(&database).await);
    }

    assert!(found[0].len() > 50);
    assert_eq!(found[0], found[1]);
}

#[tokio::test]
async fn services_in_one_database_keep_to_their_schemas() {
    let test = TestDatabase::postgres().await;
    for schema in ["broker", "provisioner"] {
        let database = Database::open(&Options::new(test.url()).in_schema(schema)).await.unwrap();
        assert!(columns(&database).await.is_empty());
        database.migrate(Set::Engine).await.unwrap();
        assert!(!columns(&database).await.is_empty());
    }

    let odd = Options::new(test.url()).in_schema("broker; DROP TABLE operations");
    assert!(Database::open(&odd).await.is_err());
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
