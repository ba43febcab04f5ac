//! One operation of a runtime at a time, together with the document it was made for.

use engine::{
    State, Storage as _,
    storage::{Acceptance, CommitResult, Unfinished, Verdict},
};
use futures::future::join_all;
use serde_json::json;
use store::{RowAcceptance, provisioner::Move};
use uuid::Uuid;

use crate::bench::{Bench, operation, queue, refuse, runtime};

pub(crate) async fn of_fifty_operations_at_once_one_starts_and_the_others_are_refused(b: Bench) {
    let runtime = b.ready("shoot").await;
    let accept = |n: usize| {
        let (store, id) = (b.store.clone(), runtime.id);
        async move {
            let document = n.to_string();
            let document = n.is_multiple_of(2).then_some(document.as_bytes());
            store.accept(id, runtime.revision, document, operation(id), &refuse).await.unwrap()
        }
    };

    let answers = join_all((0..50).map(accept)).await;

    let started = answers.iter().filter(|a| **a == RowAcceptance::Yes(Acceptance::Started)).count();
    let refused =
        answers.iter().filter(|a| matches!(a, RowAcceptance::Yes(Acceptance::Refused(_)))).count();
    assert_eq!((started, refused), (1, 49), "{answers:?}");
    let winner =
        answers.iter().position(|a| *a == RowAcceptance::Yes(Acceptance::Started)).unwrap();
    let expected = if winner.is_multiple_of(2) { winner.to_string() } else { "document".into() };
    assert_eq!(b.find(runtime.id).await.document, expected.as_bytes());
}

pub(crate) async fn a_document_lands_with_its_operation_if_nothing_changed_in_between(b: Bench) {
    let runtime = b.ready("shoot").await;
    let (first, second) = (operation(runtime.id), operation(runtime.id));
    let (kept, lost) = (first.id, second.id);
    let read = runtime.revision;

    let accepted = b.store.accept(runtime.id, read, Some(b"new"), first, &queue).await.unwrap();
    let changed = b.store.accept(runtime.id, read, Some(b"old"), second, &queue).await.unwrap();
    let without = b.store.accept(runtime.id, read, None, operation(runtime.id), &queue).await;

    assert_eq!(accepted, RowAcceptance::Yes(Acceptance::Started));
    assert_eq!(changed, RowAcceptance::Changed);
    assert_eq!(without.unwrap(), RowAcceptance::Yes(Acceptance::Queued));
    let found = b.find(runtime.id).await;
    assert_eq!((found.document.as_slice(), found.revision), (&b"new"[..], read + 1));
    assert!(b.is_stored(kept).await && !b.is_stored(lost).await);
}

pub(crate) async fn what_changed_in_between_also_takes_a_cancellation_back(b: Bench) {
    let new = runtime("shoot");
    let running = b.order(&new).await;
    let supersede = |unfinished: &[Unfinished]| {
        let ids: Vec<_> = unfinished.iter().map(|one| one.id).collect();
        if ids.is_empty() { Verdict::Queue } else { Verdict::Supersede(ids, "deleted".into()) }
    };

    let late = b.store.accept(new.id, 7, Some(b"new"), operation(new.id), &supersede).await;

    assert_eq!(late.unwrap(), RowAcceptance::Changed);
    assert_eq!(b.engine.read(running).await.unwrap().unwrap().cancel, None);
    let now = b.store.accept(new.id, 1, Some(b"new"), operation(new.id), &supersede).await;
    assert_eq!(now.unwrap(), RowAcceptance::Yes(Acceptance::Queued));
    let cancel = b.engine.read(running).await.unwrap().unwrap().cancel.unwrap();
    assert_eq!((cancel.state, cancel.reason.as_str()), (State::Failed, "deleted"));
}

pub(crate) async fn what_was_accepted_answers_its_repetition_whatever_became_of_the_runtime(
    b: Bench,
) {
    let there = b.ready("shoot").await;
    let removal = operation(there.id);
    let id = removal.id;
    let accept =
        |operation| b.store.accept(there.id, there.revision, Some(b"new"), operation, &refuse);
    accept(removal.clone()).await.unwrap();

    let while_it_runs = accept(removal.clone()).await.unwrap();
    let replica = b.hands.join().await;
    b.hands.end(replica, there.id, json!({ "deleted": true })).await;
    let afterwards = accept(removal).await.unwrap();

    assert_eq!(while_it_runs, RowAcceptance::Yes(Acceptance::Same(id)));
    assert_eq!(afterwards, RowAcceptance::Yes(Acceptance::Same(id)));
    assert_eq!(b.find(there.id).await.revision, there.revision + 2);
}

pub(crate) async fn nothing_is_accepted_on_a_runtime_that_is_deleted_or_unknown(b: Bench) {
    let deleted = b.deleted("shoot").await;
    let unknown = Uuid::new_v4();

    for runtime in [deleted.id, unknown] {
        for document in [None, Some(&b"new"[..])] {
            let late = operation(runtime);
            let id = late.id;

            let answer = b.store.accept(runtime, deleted.revision, document, late, &queue).await;

            assert_eq!(answer.unwrap(), RowAcceptance::Gone);
            assert!(!b.is_stored(id).await);
        }
    }
    assert_eq!(b.find(deleted.id).await.document, deleted.document);
}

pub(crate) async fn acceptances_and_commits_of_one_runtime_do_not_lock_each_other_out(b: Bench) {
    let replica = b.hands.join().await;
    let runtime = runtime("shoot");
    b.order(&runtime).await;
    for round in 0..100 {
        let held = b.hands.claim(replica, runtime.id).await;
        let end = b.hands.ends(&held, json!({ "document": { "round": round } }));
        let (one, two) = (operation(runtime.id), operation(runtime.id));

        let (landed, one, two) = futures::join!(
            b.hands.commit(replica, end),
            b.store.accept(runtime.id, 0, None, one, &refuse),
            b.store.accept(runtime.id, 0, None, two, &refuse),
        );

        assert!(matches!(landed, CommitResult::Yes { .. }), "in round {round}: {landed:?}");
        let started = [one.unwrap(), two.unwrap()];
        let started =
            started.iter().filter(|a| **a == RowAcceptance::Yes(Acceptance::Started)).count();
        assert!(started < 2, "in round {round}");
        if started == 0 {
            let next = b.store.accept(runtime.id, 0, None, operation(runtime.id), &refuse).await;
            assert_eq!(next.unwrap(), RowAcceptance::Yes(Acceptance::Started), "in round {round}");
        }
    }
    assert_eq!(b.find(runtime.id).await.revision, 101);
}

pub(crate) async fn a_runtime_moves_with_the_operation_that_moves_it(b: Bench) {
    let there = b.ready("shoot").await;
    let to = |to| Move { from: "tenant", to };
    let (first, second) = (operation(there.id), operation(there.id));
    let moved = first.id;
    let read = there.revision;

    let accepted = b.store.accept_moving(there.id, read, None, to("new"), first, &queue).await;
    let stale = b.store.accept_moving(there.id, read, None, to("other"), second, &queue).await;

    assert_eq!(accepted.unwrap(), RowAcceptance::Yes(Acceptance::Started));
    assert_eq!(stale.unwrap(), RowAcceptance::Changed);
    let found = b.find(there.id).await;
    assert_eq!((found.tenant.as_str(), found.revision), ("new", read + 1));
    assert_eq!(found.registered_tenant.as_deref(), Some("tenant"));
    assert_eq!(found.document, there.document);
    let journal = b.engine.journal(moved).await.unwrap();
    let reason = "the runtime moved from tenant tenant to tenant new";
    assert_eq!(journal[0].reason.as_deref(), Some(reason));
    let told = b.store.not_provisioned(None, 10).await.unwrap();
    assert_eq!(told, [(there.id, "tenant".to_owned())], "where the Director has it");

    let replica = b.hands.join().await;
    b.hands.end(replica, there.id, json!(null)).await;
    let revision = b.find(there.id).await.revision;
    assert!(b.store.replace(there.id, revision, b"back", Some("tenant")).await.unwrap());
    let found = b.find(there.id).await;
    assert_eq!((found.tenant.as_str(), found.document.as_slice()), ("tenant", &b"back"[..]));
    assert_eq!(found.registered_tenant.as_deref(), Some("tenant"));
}
