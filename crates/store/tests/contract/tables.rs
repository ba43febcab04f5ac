//! The tables are the same in both databases, and there is one way to make them.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
};

use store::{
    Database, Options, Set, on,
    testing::{Folder, TestDatabase, columns, migrated_at_once, same_columns},
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

#[tokio::test]
async fn an_embedded_database_is_for_its_owner_alone() {
    let folder = Folder::new("private").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let url = format!("sqlite://{}", folder.path().join("kcp.db").display());

    let database = Database::open(&Options::new(url)).await.unwrap();
    on!(database.writer(), |pool| {
        sqlx::query("CREATE TABLE notes (id INTEGER)").execute(pool).await.map(drop)
    })
    .unwrap();

    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert!(files.len() > 1, "the database, and what SQLite keeps beside it: {files:?}");
    for file in files {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{file:?}");
    }
}
