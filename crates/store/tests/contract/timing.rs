//! Leases and due times go by the database's clock, and by no other.

use std::time::Duration;

use base::Clock;
use engine::{
    PlantedBug, State, Storage as _,
    storage::{Cancel, Heart as _},
};
use jiff::SignedDuration;
use store::{EngineStore, engine::Time, testing::TestDatabase};

use crate::bench::{Bench, LEASE, OnDatabase, landed};

fn by_the_database(on: &OnDatabase, planted: PlantedBug, clock: Clock) -> Bench {
    let (database, sealer) = (on.database.clone(), on.sealer.clone());
    let store = EngineStore::new(database, sealer, Time::Database, planted);
    Bench { store: store.with_local_clock(clock.clone()), clock }
}

pub(crate) async fn p12_everything_works_by_the_databases_own_time(on: OnDatabase) {
    let bench = by_the_database(&on, PlantedBug::Nothing, Clock::running());
    let joined = bench.store.join("r", LEASE).await.unwrap();
    let replica = joined.replica;
    let mut heart = bench.store.heart().await.unwrap();
    let beat = heart.beat(replica, LEASE).await.unwrap();
    assert!(beat.alive && beat.now >= joined.now);

    let held = bench.held(replica, "i").await;
    let waiting = bench.accept("i").await;
    bench.commit(replica, bench.sleeps(&held, 3600, Some("go"))).await;
    assert!(bench.ask(replica, 1, "", &[]).await.next_due.is_some());
    bench.store.signal("go").await.unwrap();
    let held = bench.claim(replica, 1).await.remove(0);
    bench.commit(replica, bench.sleeps(&held, 3600, None)).await;
    let cancel = Cancel { state: State::Canceled, reason: "enough".into() };
    assert!(bench.store.request_cancel(held.id, &cancel).await.unwrap());
    let held = bench.claim(replica, 1).await.remove(0);
    assert!(landed(&bench.commit(replica, bench.ends(&held, State::Canceled)).await));

    assert_eq!(bench.claim(replica, 1).await[0].id, waiting);
    assert!(bench.store.look(&[waiting]).await.unwrap()[0].as_ref().unwrap().owner_alive);
    bench.store.leave(replica).await.unwrap();
    assert_eq!(bench.store.reap().await.unwrap(), 0);
    let soon = bench.clock.now() + Duration::from_mins(1);
    assert_eq!(bench.store.trim(soon, 10).await.unwrap(), 1);
    let heir = bench.join("heir").await;
    assert_eq!(bench.claim(heir, 1).await[0].epoch, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_with_a_wrong_clock_takes_nothing_unless_it_trusts_that_clock() {
    let on = Bench::on(TestDatabase::postgres().await).await;
    let right = by_the_database(&on, PlantedBug::Nothing, Clock::running());
    let owner = right.join("owner").await;
    let held = right.held(owner, "i").await;
    right.commit(owner, right.sleeps(&held, 0, None)).await;
    let an_hour_ahead = || Clock::skewed(SignedDuration::from_hours(1));

    let wrong = by_the_database(&on, PlantedBug::Nothing, an_hour_ahead());
    let harmless = wrong.join("wrong").await;
    assert!(wrong.claim(harmless, 10).await.is_empty());

    let trusting = by_the_database(&on, PlantedBug::LocalClock, an_hour_ahead());
    let harmful = trusting.join("trusting").await;
    assert_eq!(trusting.claim(harmful, 10).await.len(), 1);
}
