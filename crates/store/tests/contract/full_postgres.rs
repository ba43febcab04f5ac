//! A disk that fills up under PostgreSQL, and has room again: under its tables, and under its log.

use std::time::Duration;

use base::Clock;
use engine::{OperationId, Storage as _, StorageError};
use store::{
    Database, Options, Set,
    testing::{Part, SmallDisk},
};

use crate::bench::{Bench, landed, new, queue};

/// Room for more operations than a full disk may still take.
const MANY: usize = 20_000;

async fn fills_up(part: Part, refusals: usize) {
    let mut disk = SmallDisk::of(part).await;
    let options = Options { patience: Duration::from_millis(500), ..Options::new(disk.url()) };
    let database = Database::open(&options).await.unwrap();
    database.migrate(Set::Engine).await.unwrap();
    let (bench, _) = Bench::over(database);
    let replica = bench.join("r").await;
    let held = bench.held(replica, "first").await;
    let mut accepted = vec![held.id];
    let (mut refused, mut in_doubt) = (Vec::new(), 0);

    disk.fill().await;
    while refused.len() + in_doubt < refusals {
        let operation = new(&format!("instance {}", accepted.len()), "a");
        let id = operation.id;
        match bench.store.accept(operation, &queue).await {
            Ok(_) => accepted.push(id),
            Err(StorageError::Unavailable(_)) => refused.push(id),
            Err(StorageError::Unknown(_)) => in_doubt += 1,
            Err(error) => panic!("answered as if another try could not help: {error:?}"),
        }
        assert!(accepted.len() < MANY, "the disk never fills up");
    }
    disk.free().await;

    let after = until_it_is_accepted(&bench).await;
    assert!(landed(&bench.commit(replica, bench.done(&held)).await));
    for id in accepted.into_iter().chain([after]) {
        assert!(bench.store.read(id).await.unwrap().is_some(), "{id} was accepted and is lost");
    }
    for id in refused {
        assert!(bench.store.read(id).await.unwrap().is_none(), "{id} was refused and is stored");
    }
}

/// Connections that ended with the server are found out one by one.
async fn until_it_is_accepted(bench: &Bench) -> OperationId {
    let clock = Clock::running();
    loop {
        let operation = new("when there is room", "a");
        let id = operation.id;
        match bench.store.accept(operation, &queue).await {
            Ok(_) => return id,
            Err(error) => assert!(clock.monotonic() < Duration::from_secs(60), "{error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn p25_a_full_disk_under_postgresql_refuses_and_loses_nothing_and_heals_without_a_restart() {
    fills_up(Part::Data, 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p25_when_the_log_of_postgresql_has_no_room_nothing_accepted_is_lost() {
    fills_up(Part::Log, 5).await;
}
