//! A step's changes to its runtime land with its result, or not at all.

use engine::storage::CommitResult;
use serde_json::json;

use crate::bench::{Bench, kubeconfig, operation, queue, runtime};

pub(crate) async fn a_change_lands_with_its_commit(b: Bench) {
    let (new, other) = (runtime("shoot"), runtime("other"));
    b.order(&new).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, new.id).await;
    b.order(&other).await;
    b.wait(5);
    let first = b.hands.done(
        &held,
        json!({
            "document": { "seed": "aws-eu1", "zones": ["a", "b"] },
            "shoot_uid": "u-1",
            "provisioned": true,
        }),
    );
    let landed = b.hands.commit(replica, first).await;
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    let provisioned_at = b.clock.now();
    b.wait(5);
    let mut second =
        b.hands.done(&held, json!({ "document": "bm90IEpTT04=", "provisioned": true }));
    second.serial += 1;

    let between = b.find(new.id).await;
    let landed = b.hands.commit(replica, second).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert_eq!(between.document, br#"{"seed":"aws-eu1","zones":["a","b"]}"#);
    assert_eq!(between.revision, 2);
    let after = b.find(new.id).await;
    assert_eq!((after.document.as_slice(), after.revision), (&b"not JSON"[..], 3));
    assert_eq!(after.provisioned_at, Some(provisioned_at));
    assert_eq!(after.shoot_uid.as_deref(), Some("u-1"));
    assert_eq!(b.find(other.id).await.revision, 1);
}

pub(crate) async fn a_fenced_commit_changes_no_runtime(b: Bench) {
    let new = runtime("shoot");
    b.order(&new).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, new.id).await;
    let mut commit = b.hands.done(&held, json!({ "document": {}, "deleted": true }));
    commit.serial += 7;

    let landed = b.hands.commit(replica, commit).await;

    assert_eq!(landed, CommitResult::Fenced);
    let found = b.find(new.id).await;
    assert_eq!((found.document.as_slice(), found.revision), (&b"document"[..], 1));
    assert_eq!(found.deleted_at, None);
}

pub(crate) async fn deletion_forgets_the_kubeconfig_for_good(b: Bench) {
    let there = b.ready("shoot").await;
    b.store.save_kubeconfig(there.id, &kubeconfig("kind: Config")).await.unwrap();
    b.store.accept(there.id, 0, None, operation(there.id), &queue).await.unwrap();
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, there.id).await;
    let landed = b.hands.commit(replica, b.hands.done(&held, json!({ "deleted": true }))).await;
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    let deleted_at = b.clock.now();
    b.wait(5);

    b.store.save_kubeconfig(there.id, &kubeconfig("kind: Config")).await.unwrap();
    let mut again = b.hands.done(&held, json!({ "deleted": true }));
    again.serial += 1;
    let landed = b.hands.commit(replica, again).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    let found = b.find(there.id).await;
    assert_eq!(found.deleted_at, Some(deleted_at));
    assert!(found.kubeconfig.is_none());
}

pub(crate) async fn what_a_change_does_not_mean_is_refused_without_telling_it(b: Bench) {
    let new = runtime("shoot");
    b.order(&new).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, new.id).await;

    for (change, word) in [
        (json!({ "provisioned": true, "colour": "hunter2" }), "colour"),
        (json!({ "shoot_uid": ["hunter2"] }), "shoot_uid"),
        (json!({ "shoot_uid": "" }), "shoot_uid"),
        (json!({ "document": "hunter2!" }), "document"),
        (json!({ "deleted": "hunter2" }), "deleted"),
        (json!("hunter2"), "no fields"),
    ] {
        let landed = b.hands.commit(replica, b.hands.done(&held, change)).await;
        let CommitResult::Rejected(text) = &landed else { panic!("{landed:?}") };
        assert!(text.contains(word) && !text.contains("hunter2"), "{text}");
    }

    let found = b.find(new.id).await;
    assert_eq!((found.revision, found.provisioned_at), (1, None));
}
