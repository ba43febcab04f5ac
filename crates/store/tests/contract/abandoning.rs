//! On PostgreSQL an abandonment locks its owner's lease: the owner's heartbeat never waits for it for long.

use std::pin::pin;

use base::Failure;
use engine::{
    ReplicaId, Storage as _, StorageError,
    storage::{Beat, Heart as _},
};
use futures::poll;
use store::{on, testing::TestDatabase};

use crate::bench::{Bench, LEASE, OnDatabase};

fn failure() -> Failure {
    Failure::new("engine", "abandoned", "it hangs")
}

/// Whether a transaction has locked a replica's lease.
async fn is_locked(bench: &OnDatabase, replica: ReplicaId) -> bool {
    const FREE: &str = "SELECT 1 FROM replicas WHERE id = $1 FOR UPDATE SKIP LOCKED";
    let free = on!(bench.database.writer(), |pool| {
        sqlx::query(FREE).bind(replica).fetch_optional(pool).await.map(|row| row.is_some())
    });
    !free.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_goes_on_when_the_process_that_abandons_freezes() {
    let bench = Bench::on(TestDatabase::postgres().await).await;
    let replica = bench.join("r").await;
    let mut heart = bench.store.heart().await.unwrap();
    let failure = failure();

    // A poll may carry the future past its lock to the end: then the process has not frozen in time, and another one does.
    for attempt in 0..100 {
        let held = bench.held(replica, &format!("i-{attempt}")).await;
        let mut abandoning = pin!(bench.store.abandon(held.id, &failure));
        // Polled until the lease is locked, and never again.
        let mut polled = poll!(abandoning.as_mut());
        while polled.is_pending() && !is_locked(&bench, replica).await {
            polled = poll!(abandoning.as_mut());
        }
        let Beat { alive, .. } = heart.beat(replica, LEASE).await.unwrap();
        assert!(alive);
        if polled.is_ready() || bench.read(held.id).await.ended_at.is_some() {
            continue;
        }

        abandoning.await.unwrap_err();
        assert!(bench.store.abandon(held.id, &failure).await.unwrap());
        return;
    }
    panic!("no abandonment could be stopped while it held the lease");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandonment_that_cannot_lock_the_lease_is_contended_and_can_be_repeated() {
    const LOCK: &str = "SELECT 1 FROM replicas WHERE id = $1 FOR UPDATE";
    let bench = Bench::on(TestDatabase::postgres().await).await;
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let mut locking = bench.database.begin().await.unwrap();
    on!(locking.connection(), |it| sqlx::query(LOCK).bind(replica).execute(it).await.map(drop))
        .unwrap();

    let refused = bench.store.abandon(held.id, &failure()).await.unwrap_err();

    let StorageError::Unavailable(text) = &refused else { panic!("{refused}") };
    assert_eq!(text, "rows changed concurrently, giving up after several tries");
    locking.rollback().await.unwrap();
    assert!(bench.store.abandon(held.id, &failure()).await.unwrap());
}
