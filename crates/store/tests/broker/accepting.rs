//! One operation of an instance at a time, together with the order it was made for.

use engine::{
    State, Storage as _,
    storage::{Acceptance, CommitResult, Unfinished, Verdict},
};
use futures::future::join_all;
use serde_json::json;
use store::{RowAcceptance, broker::AcceptedChange};

use crate::bench::{Bench, instance, operation, queue, refuse};

pub(crate) async fn of_fifty_operations_at_once_one_starts_and_the_others_are_refused(b: Bench) {
    let there = b.ready("one").await;
    let accept = |n: usize| {
        let (store, revision) = (b.store.clone(), there.revision);
        async move {
            let order = n.to_string();
            let order = n.is_multiple_of(2).then_some(order.as_bytes());
            store.accept("one", revision, operation("one"), &refuse, order).await.unwrap()
        }
    };

    let answers = join_all((0..50).map(accept)).await;

    let started = answers.iter().filter(|a| **a == RowAcceptance::Yes(Acceptance::Started)).count();
    let refused =
        answers.iter().filter(|a| matches!(a, RowAcceptance::Yes(Acceptance::Refused(_)))).count();
    assert_eq!((started, refused), (1, 49), "{answers:?}");
    let winner =
        answers.iter().position(|a| *a == RowAcceptance::Yes(Acceptance::Started)).unwrap();
    let expected = if winner.is_multiple_of(2) { winner.to_string() } else { "order".into() };
    assert_eq!(b.find("one").await.order, expected.as_bytes());
}

pub(crate) async fn an_order_lands_with_its_operation_if_nothing_changed_in_between(b: Bench) {
    let there = b.ready("one").await;
    let (first, second) = (operation("one"), operation("one"));
    let (kept, lost) = (first.id, second.id);
    let read = there.revision;
    b.wait(5);

    let accepted = b.store.accept("one", read, first, &queue, Some(b"new")).await.unwrap();
    let changed = b.store.accept("one", read, second, &queue, Some(b"old")).await.unwrap();
    let without = b.store.accept("one", read, operation("one"), &queue, None).await.unwrap();

    assert_eq!(accepted, RowAcceptance::Yes(Acceptance::Started));
    assert_eq!(changed, RowAcceptance::Changed);
    assert_eq!(without, RowAcceptance::Yes(Acceptance::Queued));
    let found = b.find("one").await;
    assert_eq!((found.order.as_slice(), found.revision), (&b"new"[..], read + 1));
    assert_eq!((found.created_at, found.updated_at), (there.created_at, b.clock.now()));
    assert!(b.is_stored(kept).await && !b.is_stored(lost).await);
}

pub(crate) async fn an_account_moves_with_its_operation_or_not_at_all(b: Bench) {
    let there = b.ready("one").await;
    let change = AcceptedChange {
        order: Some(b"moved"),
        global_account: Some("other"),
        ..AcceptedChange::default()
    };
    let accept = async |revision: i64| {
        let operation = operation("one");
        let id = operation.id;
        let accepted = b.store.accept_changing("one", revision, operation, &queue, change).await;
        (id, accepted)
    };
    let account = async || b.find("one").await.global_account;

    // The operation cannot be stored, the instance cannot be changed, and both can.
    b.execute("ALTER TABLE operation_data RENAME TO mislaid").await;
    let (first, unstored) = accept(there.revision).await;
    b.execute("ALTER TABLE mislaid RENAME TO operation_data").await;
    assert!(unstored.is_err() && !b.is_stored(first).await);
    assert_eq!(account().await, "account");
    let (late, changed) = accept(there.revision + 1).await;
    assert_eq!(changed.unwrap(), RowAcceptance::Changed);
    assert!(!b.is_stored(late).await);
    assert_eq!(account().await, "account");
    b.execute("ALTER TABLE instances RENAME COLUMN global_account TO mislaid").await;
    let (second, untouched) = accept(there.revision).await;
    b.execute("ALTER TABLE instances RENAME COLUMN mislaid TO global_account").await;
    assert!(untouched.is_err() && !b.is_stored(second).await);

    let (third, accepted) = accept(there.revision).await;

    assert_eq!(accepted.unwrap(), RowAcceptance::Yes(Acceptance::Started));
    assert!(b.is_stored(third).await);
    let found = b.find("one").await;
    assert_eq!((found.global_account.as_str(), found.order.as_slice()), ("other", &b"moved"[..]));
    assert_eq!(found.revision, there.revision + 1);
}

pub(crate) async fn what_changed_in_between_also_takes_a_cancellation_back(b: Bench) {
    let running = b.order(&instance("one")).await;
    let supersede = |unfinished: &[Unfinished]| {
        let ids: Vec<_> = unfinished.iter().map(|one| one.id).collect();
        if ids.is_empty() { Verdict::Queue } else { Verdict::Supersede(ids, "deleted".into()) }
    };

    let late = b.store.accept("one", 7, operation("one"), &supersede, Some(b"new")).await.unwrap();
    let untouched = b.engine.read(running).await.unwrap().unwrap().cancel;
    let now = b.store.accept("one", 1, operation("one"), &supersede, Some(b"new")).await.unwrap();

    assert_eq!((late, untouched), (RowAcceptance::Changed, None));
    assert_eq!(now, RowAcceptance::Yes(Acceptance::Queued));
    let cancel = b.engine.read(running).await.unwrap().unwrap().cancel.unwrap();
    assert_eq!((cancel.state, cancel.reason.as_str()), (State::Failed, "deleted"));
}

pub(crate) async fn what_was_accepted_answers_its_repetition_whatever_became_of_the_instance(
    b: Bench,
) {
    let there = b.ready("one").await;
    let removal = operation("one");
    let id = removal.id;
    let accept =
        |operation| b.store.accept("one", there.revision, operation, &refuse, Some(b"new"));
    accept(removal.clone()).await.unwrap();

    let while_it_runs = accept(removal.clone()).await.unwrap();
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", json!({ "removed": true })).await;
    let afterwards = accept(removal).await.unwrap();

    assert_eq!(while_it_runs, RowAcceptance::Yes(Acceptance::Same(id)));
    assert_eq!(afterwards, RowAcceptance::Yes(Acceptance::Same(id)));
    assert!(b.is_gone("one").await);
}

pub(crate) async fn nothing_is_accepted_on_an_instance_that_is_removed_or_unknown(b: Bench) {
    b.made("removed", json!({ "removed": true })).await;
    let long = "x".repeat(10_000);

    for instance in ["removed", "unknown", "", "\0", long.as_str()] {
        for order in [None, Some(&b"new"[..])] {
            let late = operation(instance);
            let id = late.id;

            let answer = b.store.accept(instance, 1, late, &queue, order).await;

            assert_eq!(answer.unwrap(), RowAcceptance::Gone);
            assert!(!b.is_stored(id).await);
        }
    }
    assert!(b.is_gone("removed").await);
}

pub(crate) async fn what_is_left_over_can_be_worked_on(b: Bench) {
    b.made("one", json!({ "deleted": true })).await;

    let again = b.store.accept("one", 0, operation("one"), &queue, None).await.unwrap();

    assert_eq!(again, RowAcceptance::Yes(Acceptance::Started));
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", json!({ "removed": true })).await;
    assert!(b.is_gone("one").await);
}

pub(crate) async fn acceptances_and_commits_of_one_instance_do_not_lock_each_other_out(b: Bench) {
    let replica = b.hands.join().await;
    b.order(&instance("one")).await;
    for round in 0..100 {
        let held = b.hands.claim(replica, "one").await;
        let end = b.hands.ends(&held, json!({ "details": { "round": round } }));
        let (one, two) = (operation("one"), operation("one"));

        let (landed, one, two) = futures::join!(
            b.hands.commit(replica, end),
            b.store.accept("one", 0, one, &refuse, None),
            b.store.accept("one", 0, two, &refuse, None),
        );

        assert!(matches!(landed, CommitResult::Yes { .. }), "in round {round}: {landed:?}");
        let started = [one.unwrap(), two.unwrap()];
        let started =
            started.iter().filter(|a| **a == RowAcceptance::Yes(Acceptance::Started)).count();
        assert!(started < 2, "in round {round}");
        if started == 0 {
            let next = b.store.accept("one", 0, operation("one"), &refuse, None).await;
            assert_eq!(next.unwrap(), RowAcceptance::Yes(Acceptance::Started), "in round {round}");
        }
    }
    assert_eq!(b.find("one").await.revision, 101);
}
