//! Indexes of large tables: built while others write, and again where that was cut short.

use std::{sync::Arc, time::Duration};

use base::Clock;
use sqlx::{Connection as _, PgConnection, raw_sql};

use crate::{Database, Set, testing::TestDatabase};

const INDEX: &str = "operations_removals";
const ADD: &str = "
    INSERT INTO operations (id, root, instance, kind, data_version, lane, state, ended_at, created_at, updated_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 'instance', 'deprovision', 1, '', 'succeeded', now(), now(), now()";
const BUILDING: &str = "
    SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND query LIKE '%CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock' AND pid <> pg_backend_pid())";

struct MigratedDatabase {
    test: TestDatabase,
    database: Arc<Database>,
}

impl MigratedDatabase {
    /// A database with its tables and an operation.
    async fn new() -> Self {
        let test = TestDatabase::postgres().await;
        let database = Arc::new(test.database().await);
        let it = Self { test, database };
        it.database.migrate(Set::Engine).await.unwrap();
        it.migrate().await;
        it.run(ADD).await;
        it
    }

    async fn migrate(&self) {
        self.database.migrate(Set::Broker).await.unwrap();
    }

    async fn connect(&self) -> PgConnection {
        PgConnection::connect(self.test.url()).await.unwrap()
    }

    async fn run(&self, text: &'static str) {
        raw_sql(text).execute(&mut self.connect().await).await.unwrap();
    }

    async fn ask(&self, text: &'static str) -> bool {
        sqlx::query_scalar(text).fetch_one(&mut self.connect().await).await.unwrap()
    }

    async fn is_valid(&self) -> Option<bool> {
        super::indexes::is_valid(&mut self.connect().await, INDEX).await.unwrap()
    }
}

#[tokio::test]
async fn an_index_that_was_not_built_to_its_end_is_built_again() {
    let migrated = MigratedDatabase::new().await;
    assert_eq!(migrated.is_valid().await, Some(true));
    // As a crash leaves it.
    migrated
        .run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'operations_removals'::regclass")
        .await;
    assert_eq!(migrated.is_valid().await, Some(false));

    migrated.migrate().await;

    assert_eq!(migrated.is_valid().await, Some(true));
}

#[tokio::test]
async fn others_write_while_an_index_is_built_and_several_replicas_build_it_once() {
    let migrated = MigratedDatabase::new().await;
    migrated.run("DROP INDEX operations_removals").await;
    let mut holder = migrated.connect().await;
    let mut held = holder.begin().await.unwrap();
    raw_sql(ADD).execute(&mut *held).await.unwrap();

    let replicas: Vec<_> = (0..3)
        .map(|_| {
            let database = migrated.database.clone();
            tokio::spawn(async move { database.migrate(Set::Broker).await })
        })
        .collect();
    let clock = Clock::running();
    while !migrated.ask(BUILDING).await {
        assert!(clock.monotonic() < Duration::from_secs(60), "nothing is built");
        clock.sleep(Duration::from_millis(10)).await;
    }
    // Behind a lock on the table it would wait for the holder as well.
    let written = tokio::time::timeout(Duration::from_secs(30), migrated.run(ADD)).await;
    held.commit().await.unwrap();
    for replica in replicas {
        replica.await.unwrap().unwrap();
    }

    written.unwrap();
    assert_eq!(migrated.is_valid().await, Some(true));
}
