//! Retries and their drivers: several at once, and one that dies, fails, is canceled or paused.

use engine::{State, Storage as _};
use serde_json::Value;
use store::broker::StartResult;

use super::TwoRetries;
use crate::bench::Bench;

pub(crate) async fn of_two_retries_the_first_driver_begins_both_and_the_second_ends_them(b: Bench) {
    let TwoRetries { id, again, drivers, hands } = b.retried_twice().await;
    let replica = hands.join().await;
    let first = hands.claim(replica, id).await;
    assert_eq!(first.id, drivers[0]);
    // The second one waits for its end.
    assert!(hands.try_claim(replica, id).await.is_none());

    assert!(b.store.begin_retry(id).await.unwrap());
    // Once more after a lost answer.
    assert!(!b.store.begin_retry(id).await.unwrap());
    for (name, operation) in ["a", "b"].into_iter().zip(again) {
        assert_eq!(b.start(id, name, operation).await, StartResult::Yes);
    }
    assert!(!b.store.finish_orchestration(id, drivers[0], "failed").await.unwrap());
    assert_eq!(b.row(id).await.state, "in progress");

    hands.commit(replica, hands.ends(&first, Value::Null)).await;
    let second = hands.claim(replica, id).await;
    assert_eq!(second.id, drivers[1]);
    assert!(!b.store.begin_retry(id).await.unwrap());
    assert!(b.store.finish_orchestration(id, drivers[1], "succeeded").await.unwrap());
    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.forgiven, row.released), ("succeeded", 0, false));
}

pub(crate) async fn a_retry_goes_on_when_the_driver_before_it_dies_or_fails(b: Bench) {
    let TwoRetries { id, again, drivers, hands } = b.retried_twice().await;
    let dead = hands.join().await;
    assert_eq!(hands.claim(dead, id).await.id, drivers[0]);
    b.engine.leave(dead).await.unwrap();
    let replica = hands.join().await;
    let first = hands.claim(replica, id).await;
    assert_eq!(first.id, drivers[0]);

    let mut commit = hands.ends(&first, Value::Null);
    commit.position.state = State::Failed;
    commit.position.failure = Some(base::Failure::new("broker", "lost", "it cannot go on"));
    hands.commit(replica, commit).await;

    // It is the second one's orchestration: nothing has ended, nothing was left out.
    assert_eq!((b.row(id).await.state.as_str(), b.counts(id).await.waiting()), ("retrying", 2));
    assert_eq!(hands.claim(replica, id).await.id, drivers[1]);
    assert!(b.store.begin_retry(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::Yes);
    assert!(b.store.finish_orchestration(id, drivers[1], "failed").await.unwrap());
}

pub(crate) async fn a_cancel_before_a_retry_has_begun_lets_nothing_begin(b: Bench) {
    let TwoRetries { id, again, drivers, .. } = b.retried_twice().await;

    assert!(b.store.cancel_orchestration(id, "canceled").await.unwrap());

    assert!(!b.store.begin_retry(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::NoSlot);
    assert!(!b.retries(id, &[]).await);
    assert_eq!(b.row(id).await.driver, drivers[1]);
    assert_eq!(b.store.call_off_members(id, "canceled").await.unwrap(), 2);
    assert!(!b.store.finish_orchestration(id, drivers[0], "canceled").await.unwrap());
    assert!(b.store.finish_orchestration(id, drivers[1], "canceled").await.unwrap());
    assert_eq!(b.counts(id).await.in_state("canceled"), 2);
}

pub(crate) async fn a_pause_before_a_retry_has_begun_holds_it_until_it_is_resumed(b: Bench) {
    let TwoRetries { id, again, .. } = b.retried_twice().await;

    assert!(b.store.pause_orchestration(id, "why").await.unwrap());
    assert!(b.store.begin_retry(id).await.unwrap());

    let row = b.row(id).await;
    assert_eq!((row.state.as_str(), row.paused), ("in progress", true));
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::NoSlot);
    assert!(b.store.resume_orchestration(id).await.unwrap());
    assert_eq!(b.start(id, "a", again[0]).await, StartResult::Yes);
}
