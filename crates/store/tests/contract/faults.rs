//! A database that goes away and comes back: nothing is lost, and nothing is taken for granted.

use engine::{
    Storage as _, StorageError,
    storage::{Heart as _, Wake},
};
use store::{Database, Options, Set, testing::PostgresServer};

use crate::bench::{Bench, LEASE, landed, new, queue};

async fn bench_on(server: &PostgresServer) -> Bench {
    let database = Database::open(&Options::new(server.url("postgres"))).await.unwrap();
    database.migrate(Set::Engine).await.unwrap();
    Bench::over(database).0
}

fn nothing_written(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(_))
}

#[tokio::test(flavor = "multi_thread")]
async fn p17_a_commit_that_met_a_dying_server_is_in_doubt_and_can_be_looked_up() {
    let mut server = PostgresServer::start(&[]).await;
    let bench = bench_on(&server).await;
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let commit = bench.done(&held);

    server.stop_immediately().await;
    let lost = bench.store.commit(replica, std::slice::from_ref(&commit)).await.unwrap_err();
    server.start_again().await;

    assert!(matches!(lost, StorageError::Unknown(_)), "{lost:?}");
    let seen = loop {
        // Connections that died with the server are found out one by one.
        match bench.store.look(&[held.id]).await {
            Ok(mut seen) => break seen.remove(0).unwrap(),
            Err(error) => assert!(nothing_written(&error), "{error:?}"),
        }
    };
    assert_eq!((seen.epoch, seen.serial), (held.epoch, held.serial));
    assert!(landed(&bench.commit(replica, commit).await));
}

#[tokio::test(flavor = "multi_thread")]
async fn p17_everybody_finds_back_after_an_outage() {
    let mut server = PostgresServer::start(&[]).await;
    let bench = bench_on(&server).await;
    let mut wakes = bench.store.wakes();
    let replica = bench.join("r").await;
    let mut heart = bench.store.heart().await.unwrap();
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);

    server.stop_immediately().await;
    let missed = heart.beat(replica, LEASE).await.unwrap_err();
    server.start_again().await;

    assert!(nothing_written(&missed), "{missed:?}");
    assert!(heart.beat(replica, LEASE).await.unwrap().alive);
    let operation = new("i", "a");
    while bench.store.accept(operation.clone(), &queue).await.is_err() {}
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
    assert_eq!(wakes.recv().await.unwrap(), Wake::Due);
    assert_eq!(bench.claim(replica, 1).await[0].id, operation.id);
}
