//! The tables are the same in both databases, and there is one way to make them.

use store::{
    Database, Options, Set,
    testing::{TestDatabase, columns, migrated_at_once, same_columns},
};

use crate::bench::OnDatabase;

pub(crate) async fn migrations_run_twice_and_at_once(bench: OnDatabase) {
    bench.database.migrate(Set::Engine).await.unwrap();

    let found = migrated_at_once(&bench.database, "broker", &[Set::Engine, Set::Engine]).await;

    assert!(found.contains("operations.due_at"));
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    assert!(same_columns(Set::Engine).await.len() > 50);
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
