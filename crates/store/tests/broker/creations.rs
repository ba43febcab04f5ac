//! Calls whose effect cannot be looked for: written down before they leave, forgotten with the commit that keeps their result.

use engine::storage::CommitResult;
use serde_json::{Value, json};
use store::broker::{Creation, NewCreation};
use uuid::Uuid;

use crate::bench::{Bench, instance};

async fn begun(b: &Bench, instance: &str, name: &str) -> Uuid {
    let new = NewCreation { system: "avs", name, instance, operation: Uuid::now_v7() };
    b.store.begin_creation(new).await.unwrap()
}

async fn of(b: &Bench, instance: &str) -> Vec<Creation> {
    b.store.creations_of(instance).await.unwrap()
}

pub(crate) async fn what_was_begun_stays_until_a_commit_keeps_its_result(b: Bench) {
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    let (first, second) = (begun(&b, "one", "first").await, begun(&b, "one", "second").await);
    let mut stale = b.hands.done(&held, json!({ "created": second }));
    stale.epoch += 1;
    let landed = b.hands.commit(replica, stale).await;
    assert!(!matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert_eq!(of(&b, "one").await.len(), 2);

    let landed = b.hands.commit(replica, b.hands.done(&held, json!({ "created": first }))).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    let left: Vec<Uuid> = of(&b, "one").await.into_iter().map(|one| one.id).collect();
    assert_eq!(left, [second]);
}

pub(crate) async fn what_was_answered_is_told_and_what_is_forgotten_is_not(b: Bench) {
    let began_at = b.clock.now();
    let answered = begun(&b, "one", "first").await;
    let forgotten = begun(&b, "one", "second").await;
    begun(&b, "other", "first").await;
    b.wait(5);

    b.store.answer_creation(answered, "910003").await.unwrap();
    let times =
        [b.store.forget_creation(forgotten).await, b.store.forget_creation(forgotten).await];

    assert_eq!(times.map(Result::unwrap), [true, false]);
    let left = of(&b, "one").await;
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].id, left[0].answer.as_deref()), (answered, Some("910003")));
    assert_eq!((left[0].system.as_str(), left[0].name.as_str()), ("avs", "first"));
    assert_eq!(left[0].began_at, began_at);
}

pub(crate) async fn calls_of_operations_in_progress_are_not_counted_as_abandoned(b: Bench) {
    let operation = b.order(&instance("one")).await;
    for (name, operation) in
        [("open", operation), ("gone", Uuid::now_v7()), ("more", Uuid::now_v7())]
    {
        let new = NewCreation { system: "avs", name, instance: "one", operation };
        b.store.begin_creation(new).await.unwrap();
    }

    assert_eq!(b.store.abandoned_creations(10).await.unwrap(), 2);
    assert_eq!(b.store.abandoned_creations(1).await.unwrap(), 1, "no more than are wanted");
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", Value::Null).await;
    assert_eq!(b.store.abandoned_creations(10).await.unwrap(), 3, "its operation has ended");
}

pub(crate) async fn pages_of_creations_follow_each_other(b: Bench) {
    let mut all = Vec::new();
    for name in ["a", "b", "c"] {
        all.push(begun(&b, name, name).await);
    }

    let first = b.store.creations(None, 2).await.unwrap();
    let rest = b.store.creations(Some(first[1].id), 2).await.unwrap();

    let found: Vec<Uuid> = first.iter().chain(&rest).map(|one| one.id).collect();
    assert_eq!(found, all);
}
