//! The tables are the same in both databases, and stand beside the engine's.

use store::{
    Set,
    testing::{migrated_at_once, same_columns, texts_of_other_collation},
};

use crate::bench::Bench;

pub(crate) async fn migrations_run_twice_and_at_once_beside_the_engines(b: Bench) {
    let sets = [Set::Engine, Set::Broker, Set::Broker];

    let found = migrated_at_once(&b.database, "broker", &sets).await;

    assert!(found.contains("instances.shoot_name") && found.contains("operations.due_at"));
}

#[tokio::test]
async fn every_text_has_one_collation() {
    assert_eq!(texts_of_other_collation(&[Set::Engine, Set::Broker]).await, Vec::<String>::new());
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    assert!(same_columns(Set::Broker).await.len() > 28);
}
