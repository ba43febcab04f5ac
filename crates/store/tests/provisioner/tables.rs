//! The tables are the same in both databases, and stand beside the engine's.

use store::{
    Set,
    testing::{migrated_at_once, same_columns, texts_of_other_collation},
};

use crate::bench::Bench;

pub(crate) async fn migrations_run_twice_and_at_once_beside_the_engines(b: Bench) {
    let sets = [Set::Engine, Set::Provisioner, Set::Provisioner];

    let found = migrated_at_once(&b.database, "provisioner", &sets).await;

    assert!(found.contains("runtimes.shoot") && found.contains("operations.due_at"));
}

#[tokio::test]
async fn every_text_has_one_collation() {
    let others = texts_of_other_collation(&[Set::Engine, Set::Provisioner]).await;

    assert_eq!(others, Vec::<String>::new());
}

#[tokio::test]
async fn both_databases_have_the_same_tables_and_columns() {
    assert!(same_columns(Set::Provisioner).await.len() > 18);
}
