//! Asking an operation to end, and waking one that waits.

use std::ops::Deref;

use base::Failure;
use engine::{
    OperationId, State, Storage,
    storage::{Cancel, CommitResult, EntryEvent, Heart as _, Outcome, Skip, Verdict, Wake},
};

use crate::bench::{Bench, LEASE, after};

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

pub(crate) async fn a_signal_wakes_those_who_wait_for_it<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut wakes = bench.store.wakes();
    let waits = bench.held(replica, "i").await;
    let waits_for_another = bench.held(replica, "j").await;
    bench.commit(replica, bench.sleeps(&waits, 1000, Some("runtime/1"))).await;
    bench.commit(replica, bench.sleeps(&waits_for_another, 1000, Some("runtime/2"))).await;

    bench.store.signal("runtime/1").await.unwrap();

    let woken = bench.claim(replica, 10).await;
    assert_eq!(woken.iter().map(|held| held.id).collect::<Vec<_>>(), [waits.id]);
    while wakes.recv().await.unwrap() != Wake::Signal("runtime/1".into()) {}
}

fn pass_over(stage: &str) -> Skip {
    Skip { stage: stage.into(), step: "Ask".into(), reason: "it never comes".into() }
}

pub(crate) async fn skipping_a_step_of_a_sleeping_operation_makes_it_due<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 1000, None)).await;
    let stage = bench.read(held.id).await.stage.unwrap();

    assert!(bench.store.request_skip(held.id, &pass_over(&stage)).await.unwrap());
    assert!(!bench.store.request_skip(held.id, &pass_over("another")).await.unwrap());

    let woken = bench.claim(replica, 1).await.remove(0);
    assert_eq!((woken.id, woken.skip), (held.id, Some(pass_over(&stage))));
    assert_eq!(bench.read(held.id).await.skip, Some(pass_over(&stage)));
    let another = Skip { step: "Check".into(), ..pass_over(&stage) };
    assert!(bench.store.request_skip(held.id, &another).await.unwrap());
    let both = bench.read(held.id).await.skip.unwrap();
    assert!(both.is_of(&stage, "Ask") && both.is_of(&stage, "Check"), "{both:?}");
    assert!(!both.is_of(&stage, "Other") && !both.is_of("another", "Ask"), "{both:?}");
}

pub(crate) async fn a_step_of_an_operation_that_ends_cannot_be_skipped<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.commit(replica, bench.sleeps(&held, 1000, None)).await;
    let stage = bench.read(held.id).await.stage.unwrap();
    bench.store.request_cancel(held.id, &call_off()).await.unwrap();

    assert!(!bench.store.request_skip(held.id, &pass_over(&stage)).await.unwrap());
    assert!(!bench.store.request_skip(OperationId::new_v4(), &pass_over(&stage)).await.unwrap());

    assert_eq!(bench.read(held.id).await.skip, None);
}

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

pub(crate) async fn a_replica_is_told_what_it_does_not_own_any_more<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let (kept, lost) = (bench.held(replica, "i").await, bench.held(replica, "j").await);
    let in_hand = [(kept.id, kept.epoch), (lost.id, lost.epoch)];
    let mut heart = bench.store.heart().await.unwrap();
    assert_eq!(bench.store.lost(replica, &in_hand).await.unwrap(), []);
    assert_eq!(heart.lost(replica, &in_hand).await.unwrap(), []);

    let failure = Failure::new("engine", "abandoned", "it hangs");
    assert!(bench.store.abandon(lost.id, &failure).await.unwrap());

    assert_eq!(bench.store.lost(replica, &in_hand).await.unwrap(), [(lost.id, lost.epoch)]);
    assert_eq!(heart.lost(replica, &in_hand).await.unwrap(), [(lost.id, lost.epoch)]);
    let unknown = (OperationId::new_v4(), 1);
    let older = (kept.id, kept.epoch - 1);
    assert_eq!(bench.store.lost(replica, &[unknown, older]).await.unwrap(), [unknown, older]);
    let other = bench.join("another").await;
    assert_eq!(bench.store.lost(other, &in_hand[..1]).await.unwrap(), [in_hand[0]]);
    assert_eq!(bench.store.lost(replica, &[]).await.unwrap(), []);
}

pub(crate) async fn what_an_owner_without_a_lease_held_is_gone_at_once<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    let next = bench.accept("i").await;
    bench.clock.advance(2 * LEASE);
    let failure = Failure::new("engine", "abandoned", "it hangs");

    assert!(bench.store.abandon(held.id, &failure).await.unwrap());

    assert_eq!(bench.read(next).await.due_at, Some(bench.clock.now()));
}

pub(crate) async fn p29_a_heartbeat_beside_an_abandonment_is_waited_for_or_finds_it<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let mut heart = bench.store.heart().await.unwrap();
    let failure = Failure::new("engine", "abandoned", "it hangs");
    for round in 0..100 {
        let instance = format!("i{round}");
        let held = bench.held(replica, &instance).await;
        let next = bench.accept(&instance).await;
        bench.wait(1);
        let in_hand = [(held.id, held.epoch)];
        let beat = async {
            assert!(heart.beat(replica, LEASE).await.unwrap().alive);
            heart.lost(replica, &in_hand).await.unwrap()
        };

        let (lost, ended) = futures::join!(beat, bench.store.abandon(held.id, &failure));

        assert!(ended.unwrap());
        let due = bench.read(next).await.due_at;
        let waits = due == Some(bench.clock.now() + LEASE);
        assert!(waits || lost == in_hand, "in round {round}: {due:?}, {lost:?}");
        assert!(bench.store.abandon(next, &failure).await.unwrap());
    }
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
