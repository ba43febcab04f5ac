//! Operations that are abandoned: their owner is fenced, and the next is admitted.

use std::ops::Deref;

use base::Failure;
use engine::{
    OperationId, State, Storage,
    storage::{CommitResult, EntryEvent, Outcome, Verdict},
};

use crate::bench::{Bench, LEASE};

pub(crate) async fn abandoning_a_held_operation_fences_its_owner_and_admits_the_next<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let next = bench.accept("i").await;
    let failure = Failure::new("engine", "abandoned", "it hangs");

    assert!(bench.store.abandon(held.id, &failure).await.unwrap());

    let ended = bench.read(held.id).await;
    assert_eq!((ended.state, ended.ended_at), (State::Failed, Some(bench.clock.now())));
    assert_eq!((ended.owner, ended.held, ended.due_at), (None, false, None));
    assert_eq!((ended.failure, ended.epoch), (Some(failure.clone()), held.epoch + 1));
    assert_eq!(bench.commit(replica, bench.done(&held)).await, CommitResult::Fenced);
    let last = bench.store.journal(held.id).await.unwrap().pop().unwrap();
    assert_eq!((last.event, last.outcome), (EntryEvent::Run, Some(Outcome::Ended)));
    assert_eq!((last.state, last.failure), (State::Failed, Some(failure.clone())));
    assert_eq!(bench.read(next).await.due_at, Some(bench.clock.now() + LEASE));
    assert!(bench.claim(replica, 10).await.is_empty(), "the step of the one before may still run");
    bench.wait_alive(replica, LEASE.as_secs()).await;
    assert_eq!(bench.claim(replica, 10).await[0].id, next);
    assert!(!bench.store.abandon(held.id, &failure).await.unwrap(), "final is final");
}

pub(crate) async fn nothing_of_the_instance_begins_until_the_step_of_an_abandoned_one_is_gone<
    S: Storage,
>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let failure = Failure::new("engine", "abandoned", "it hangs");
    bench.wait_alive(replica, 3).await;
    let gone = bench.clock.now() + LEASE;
    bench.wait(1);
    assert!(bench.store.abandon(held.id, &failure).await.unwrap());
    bench.wait(1);

    // Whatever comes next: an order, one behind it that is admitted in its stead, and a retry.
    let order = bench.accept("i").await;
    let behind = bench.accept("i").await;
    assert_eq!(bench.read(order).await.due_at, Some(gone));
    assert!(bench.store.abandon(order, &failure).await.unwrap());
    assert_eq!(bench.read(behind).await.due_at, Some(gone));
    assert!(bench.store.abandon(behind, &failure).await.unwrap());
    let retry = OperationId::new_v4();
    bench.store.continue_from(held.id, retry, &|_| Verdict::Queue).await.unwrap();
    assert_eq!(bench.read(retry).await.due_at, Some(gone));
    assert!(bench.claim(replica, 10).await.is_empty());

    bench.wait_alive(replica, LEASE.as_secs()).await;
    assert_eq!(bench.claim(replica, 10).await[0].id, retry);
    let elsewhere = bench.accept("another instance").await;
    assert_eq!(bench.read(elsewhere).await.due_at, Some(bench.clock.now()));
}

pub(crate) async fn an_operation_that_waits_behind_another_can_be_abandoned<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let running = bench.held(replica, "i").await;
    let waiting = bench.accept("i").await;
    let failure = Failure::new("engine", "abandoned", "not wanted");

    assert!(bench.store.abandon(waiting, &failure).await.unwrap());
    assert!(!bench.store.abandon(OperationId::new_v4(), &failure).await.unwrap());

    assert_eq!(bench.read(waiting).await.state, State::Failed);
    let landed = bench.commit(replica, bench.ends(&running, State::Succeeded)).await;
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert!(bench.claim(replica, 10).await.is_empty());
}
