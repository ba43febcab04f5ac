//! An instance goes, its operations stay; what is left over stays until it is gone.

use engine::{State, Storage as _, storage::CommitResult};
use serde_json::json;
use store::{RowAcceptance, broker::AcceptedInstance};

use crate::bench::{Bench, instance, operation, queue};

pub(crate) async fn what_is_left_over_is_marked_once_and_stays_readable(b: Bench) {
    b.made("one", json!({ "details": { "leftovers": ["Remove_Runtime"] }, "deleted": true })).await;
    let deleted_at = b.clock.now();
    b.wait(5);
    b.store.accept("one", 0, operation("one"), &queue, None).await.unwrap();
    let replica = b.hands.join().await;

    b.hands.end(replica, "one", json!({ "deleted": true })).await;

    let found = b.find("one").await;
    assert_eq!((found.deleted_at, found.updated_at), (Some(deleted_at), b.clock.now()));
    assert_eq!(found.details, br#"{"leftovers":["Remove_Runtime"]}"#);
}

pub(crate) async fn removal_keeps_the_operations_readable(b: Bench) {
    let first = b.made("one", json!({ "details": {} })).await;
    b.wait(1);
    let removal = operation("one");
    let last = removal.id;
    b.store.accept("one", 0, removal, &queue, None).await.unwrap();
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    let removed = b.hands.done(&held, json!({ "removed": true, "details": {} }));
    assert!(matches!(b.hands.commit(replica, removed).await, CommitResult::Yes { .. }));
    let mut late = b.hands.done(&held, json!({ "details": {} }));
    late.serial += 1;
    let late = b.hands.commit(replica, late).await;
    let mut again = b.hands.ends(&held, json!({ "removed": true }));
    again.serial += 1;

    let landed = b.hands.commit(replica, again).await;

    assert!(matches!(late, CommitResult::Rejected(_)), "{late:?}");
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert!(b.is_gone("one").await);
    assert_eq!(b.store.last_operation("one", None).await.unwrap(), Some(last));
    for id in [first, last] {
        let read = b.engine.read(id).await.unwrap().unwrap();
        assert_eq!((read.state, read.input.as_slice()), (State::Succeeded, &b"input"[..]));
        assert_eq!(b.store.operation_belongs(id).await.unwrap().as_deref(), Some("one"));
    }
}

pub(crate) async fn an_id_is_never_used_again(b: Bench) {
    let removed = b.made("removed", json!({ "removed": true })).await;
    let left_over = b.made("left over", json!({ "deleted": true })).await;

    for (id, last) in [("removed", removed), ("left over", left_over)] {
        let answer = b.accept_new(&instance(id), operation(id)).await;
        assert_eq!(answer, AcceptedInstance::Reused { operation: last });
    }

    assert!(b.is_gone("removed").await);
    assert_eq!(b.count("SELECT count(*) FROM operations").await, 2);
}

pub(crate) async fn an_order_and_the_removal_of_its_id_at_once_have_one_outcome(b: Bench) {
    let replica = b.hands.join().await;
    for round in 0..50 {
        let id = round.to_string();
        let first = b.order(&instance(&id)).await;
        let held = b.hands.claim(replica, &id).await;
        let end = b.hands.ends(&held, json!({ "removed": true }));
        let new = instance(&id);

        let (landed, order) =
            futures::join!(b.hands.commit(replica, end), b.accept_new(&new, operation(&id)));

        assert!(matches!(landed, CommitResult::Yes { .. }), "in round {round}: {landed:?}");
        let known = AcceptedInstance::Same { operation: first };
        let removed = AcceptedInstance::Reused { operation: first };
        assert!(order == known || order == removed, "in round {round}: {order:?}");
        let late = b.store.accept(&id, 0, operation(&id), &queue, None).await.unwrap();
        assert_eq!(late, RowAcceptance::Gone, "in round {round}");
    }
    assert_eq!(b.count("SELECT count(*) FROM instances").await, 0);
    assert_eq!(b.count("SELECT count(*) FROM operations").await, 50);
}
