//! Asking an operation to end.

mod abandoned;
mod ownership;
mod stepping;

use std::ops::Deref;

use engine::{
    OperationId, State, Storage,
    storage::{Cancel, CommitResult, EntryEvent},
};

use crate::bench::{Bench, after};

pub(crate) use abandoned::{
    abandoning_a_held_operation_fences_its_owner_and_admits_the_next,
    an_operation_that_waits_behind_another_can_be_abandoned,
    nothing_of_the_instance_begins_until_the_step_of_an_abandoned_one_is_gone,
};
pub(crate) use ownership::{
    a_replica_is_told_what_it_does_not_own_any_more,
    p29_a_heartbeat_beside_an_abandonment_is_waited_for_or_finds_it,
    what_an_owner_without_a_lease_held_is_gone_at_once,
};
pub(crate) use stepping::{
    a_signal_wakes_those_who_wait_for_it, a_step_of_an_operation_that_ends_cannot_be_skipped,
    skipping_a_step_of_a_sleeping_operation_makes_it_due,
};

fn call_off() -> Cancel {
    Cancel { state: State::Canceled, reason: "called off".into() }
}

pub(crate) async fn canceling_a_sleeping_operation_makes_it_due<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 1000, None)).await;

    assert!(bench.store.request_cancel(held.id, &call_off()).await.unwrap());

    let woken = bench.claim(replica, 1).await.remove(0);
    assert_eq!(woken.cancel, Some(call_off()));
    let journal = bench.store.journal(held.id).await.unwrap();
    let last = journal.last().unwrap();
    assert_eq!((last.event, last.seq), (EntryEvent::CancelRequested, woken.journal));
    assert_eq!(last.reason.as_deref(), Some("called off"));
}

pub(crate) async fn canceling_a_held_operation_is_told_with_its_next_commit<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;

    assert!(bench.store.request_cancel(held.id, &call_off()).await.unwrap());
    let commit = bench.done(&held);
    let answer = bench.commit(replica, commit.clone()).await;

    assert_eq!(answer, CommitResult::Yes { journal: 4, cancel: Some(call_off()) });
    let held = after(held, &commit, &answer);
    bench.commit(replica, bench.ends(&held, State::Canceled)).await;
    assert_eq!(bench.read(held.id).await.state, State::Canceled);
}

pub(crate) async fn canceling_a_waiting_operation_ends_it_there<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let running = bench.held(replica, "i").await;
    let called_off = bench.accept("i").await;
    let next = bench.accept("i").await;

    assert!(bench.store.request_cancel(called_off, &call_off()).await.unwrap());

    let stored = bench.read(called_off).await;
    assert_eq!((stored.state, stored.ended_at), (State::Canceled, Some(bench.clock.now())));
    bench.commit(replica, bench.ends(&running, State::Succeeded)).await;
    assert_eq!(bench.claim(replica, 10).await[0].id, next);
}

pub(crate) async fn canceling_the_one_about_to_be_admitted_strands_nobody<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    for round in 0..100 {
        let instance = format!("i{round}");
        let running = bench.held(replica, &instance).await;
        let called_off = bench.accept(&instance).await;
        let last = bench.accept(&instance).await;
        let (end, cancel) = (bench.ends(&running, State::Succeeded), call_off());

        let (_, requested) = futures::join!(
            bench.commit(replica, end),
            bench.store.request_cancel(called_off, &cancel),
        );

        assert!(requested.unwrap());
        let (called_off, last) = (bench.read(called_off).await, bench.read(last).await);
        let running = [&called_off, &last].iter().filter(|one| one.due_at.is_some()).count();
        assert_eq!(running, 1, "in round {round}: {called_off:?} {last:?}");
        for held in bench.claim(replica, 10).await {
            bench.commit(replica, bench.ends(&held, State::Canceled)).await;
        }
        for held in bench.claim(replica, 10).await {
            bench.commit(replica, bench.ends(&held, State::Canceled)).await;
        }
    }
}

pub(crate) async fn a_final_or_unknown_operation_cannot_be_canceled<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.ends(&held, State::Succeeded)).await;
    let before = bench.read(held.id).await;

    assert!(!bench.store.request_cancel(held.id, &call_off()).await.unwrap());
    assert!(!bench.store.request_cancel(OperationId::new_v4(), &call_off()).await.unwrap());

    assert_eq!(bench.read(held.id).await, before);
}

pub(crate) async fn the_first_request_to_end_counts<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let id = bench.accept("i").await;
    bench.store.request_cancel(id, &call_off()).await.unwrap();

    let other = Cancel { state: State::Failed, reason: "other".into() };
    assert!(bench.store.request_cancel(id, &other).await.unwrap());

    assert_eq!(bench.read(id).await.cancel, Some(call_off()));
    assert_eq!(bench.store.journal(id).await.unwrap().len(), 2);
}
