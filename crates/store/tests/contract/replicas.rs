//! Replicas come, go, and die; what they held goes on.

use std::{ops::Deref, time::Duration};

use base::Failure;
use engine::{
    Storage,
    storage::{CommitResult, EntryEvent, Heart as _},
};
use store::on;

use crate::bench::{Bench, LEASE, OnDatabase, landed};

pub(crate) async fn a_lease_is_renewed_while_it_lives_and_never_after<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut heart = bench.store.heart().await.unwrap();
    bench.wait(9);
    let first = heart.beat(replica, LEASE).await.unwrap();
    bench.wait(9);
    let second = heart.beat(replica, LEASE).await.unwrap();
    bench.wait(10);
    let late = heart.beat(replica, LEASE).await.unwrap();
    let later = heart.beat(replica, LEASE).await.unwrap();

    assert!(first.alive && second.alive && !late.alive && !later.alive);
    assert_eq!(late.now, bench.clock.now());
}

pub(crate) async fn a_new_incarnation_ends_the_one_before<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let first = bench.store.join("r", LEASE).await.unwrap();
    let held = bench.held(first.replica, "i").await;

    let second = bench.store.join("r", LEASE).await.unwrap();

    assert_eq!((first.incarnation, second.incarnation), (1, 2));
    assert_ne!(first.replica, second.replica);
    let mut heart = bench.store.heart().await.unwrap();
    assert!(!heart.beat(first.replica, LEASE).await.unwrap().alive);
    assert_eq!(bench.commit(first.replica, bench.done(&held)).await, CommitResult::Fenced);
    assert_eq!(bench.store.reap().await.unwrap(), 1);
    let taken = bench.claim(second.replica, 1).await.remove(0);
    assert_eq!((taken.id, taken.epoch), (held.id, 2));
}

pub(crate) async fn what_a_leaver_held_is_due_at_once<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let leaver = bench.join("leaver").await;
    let held = bench.held(leaver, "i").await;
    let sleeper = bench.held(leaver, "j").await;
    bench.commit(leaver, bench.sleeps(&sleeper, 2, None)).await;

    bench.store.leave(leaver).await.unwrap();

    let other = bench.join("other").await;
    let taken = bench.claim(other, 10).await;
    assert_eq!(taken.iter().map(|held| held.id).collect::<Vec<_>>(), [held.id]);
    assert_eq!(bench.commit(leaver, bench.done(&held)).await, CommitResult::Fenced);
    bench.wait(2);
    assert_eq!(bench.claim(other, 10).await[0].id, sleeper.id);
}

pub(crate) async fn the_dead_are_taken_over_with_a_higher_epoch<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let dead = bench.join("dead").await;
    let held = bench.held(dead, "i").await;
    assert_eq!(bench.store.reap().await.unwrap(), 0);
    bench.wait(10);
    let heir = bench.join("heir").await;
    assert!(bench.claim(heir, 10).await.is_empty());

    assert_eq!(bench.store.reap().await.unwrap(), 1);
    assert_eq!(bench.store.reap().await.unwrap(), 0);

    let taken = bench.claim(heir, 10).await.remove(0);
    assert_eq!((taken.id, taken.epoch, taken.serial), (held.id, 2, held.serial));
    let journal = bench.store.journal(held.id).await.unwrap();
    let last = journal.last().unwrap();
    assert_eq!((last.event, last.epoch, last.replica), (EntryEvent::Taken, 2, Some(heir)));
}

pub(crate) async fn p06_a_stale_owner_writes_nothing_after_a_takeover<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let dead = bench.join("dead").await;
    let held = bench.held(dead, "i").await;
    bench.wait(10);
    let heir = bench.join("heir").await;
    bench.store.reap().await.unwrap();
    let taken = bench.claim(heir, 10).await.remove(0);

    assert_eq!(bench.commit(dead, bench.done(&held)).await, CommitResult::Fenced);
    assert_eq!(bench.commit(dead, bench.done(&taken)).await, CommitResult::Fenced);
    assert!(landed(&bench.commit(heir, bench.done(&taken)).await));
}

pub(crate) async fn the_long_dead_are_forgotten<S: Storage>(bench: impl Deref<Target = Bench<S>>) {
    let dead = bench.join("dead").await;
    let held = bench.held(dead, "i").await;
    bench.commit(dead, bench.sleeps(&held, 60, None)).await;
    bench.clock.advance(Duration::from_hours(25));

    bench.store.reap().await.unwrap();

    let next = bench.store.join("dead", LEASE).await.unwrap();
    assert_eq!(next.incarnation, 1);
    assert_eq!(bench.claim(next.replica, 1).await[0].epoch, 2);
}

pub(crate) async fn strays_are_let_go_and_what_is_in_hand_is_not<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let known = bench.held(replica, "known").await;
    let stray = bench.held(replica, "stray").await;

    assert_eq!(bench.store.release(replica, &[known.id]).await.unwrap(), 1);
    assert_eq!(bench.store.release(replica, &[known.id]).await.unwrap(), 0);

    assert!(bench.read(known.id).await.held);
    let again = bench.claim(replica, 10).await;
    assert_eq!(again.iter().map(|held| held.id).collect::<Vec<_>>(), [stray.id]);
    assert_eq!(again[0].epoch, stray.epoch, "it stays with its owner");
}

pub(crate) async fn p29_heartbeats_and_looks_do_not_wait_for_a_full_pool(bench: OnDatabase) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let failure = Failure::new("engine", "abandoned", "it hangs");
    assert!(bench.store.abandon(held.id, &failure).await.unwrap());
    let mut heart = bench.store.heart().await.unwrap();
    on!(bench.database.reader(), |pool| {
        let mut taken = Vec::new();
        for _ in 0..pool.options().get_max_connections() {
            taken.push(pool.acquire().await.unwrap());
        }
        assert!(pool.try_acquire().is_none());

        let in_hand = [(held.id, held.epoch)];
        // What waits for the pool, from which nothing is given back, fails or does not end.
        let both = async {
            assert!(heart.beat(replica, LEASE).await.unwrap().alive);
            assert_eq!(heart.lost(replica, &in_hand).await.unwrap(), in_hand);
        };
        tokio::time::timeout(Duration::from_secs(30), both).await.expect("it waits for the pool");
    });
}
