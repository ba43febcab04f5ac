//! A step's changes to its instance land with its result, or not at all.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::storage::CommitResult;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::bench::{Bench, instance};

pub(crate) async fn a_change_lands_with_its_commit(b: Bench) {
    let runtime = Uuid::new_v4();
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    b.order(&instance("other")).await;
    b.wait(5);
    let first = b.hands.done(
        &held,
        json!({
            "details": { "target_secret": "pool-1" },
            "runtime_id": runtime,
            "provider": "AWS",
            "region": "eu-central-1",
            "dashboard_url": "https://console.test",
        }),
    );
    let landed = b.hands.commit(replica, first).await;
    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    b.wait(5);
    let between = b.find("one").await;
    let mut second = b.hands.done(&held, json!({ "order": "bm90IEpTT04=", "details": null }));
    second.serial += 1;

    let landed = b.hands.commit(replica, second).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert_eq!(between.details, br#"{"target_secret":"pool-1"}"#);
    assert_eq!((between.order.as_slice(), between.revision), (&b"order"[..], 2));
    let after = b.find("one").await;
    assert_eq!((after.order.as_slice(), after.revision), (&b"not JSON"[..], 3));
    assert_eq!((after.details, after.runtime_id), (between.details, Some(runtime)));
    assert_eq!((after.provider.as_str(), after.region.as_str()), ("AWS", "eu-central-1"));
    assert_eq!(after.dashboard_url, "https://console.test");
    assert_eq!(after.updated_at, b.clock.now());
    assert_eq!(b.store.find_by_runtime(runtime).await.unwrap().unwrap().id, "one");
    assert_eq!(b.find("other").await.revision, 1);
}

pub(crate) async fn a_runtime_is_taken_away_again(b: Bench) {
    let runtime = Uuid::new_v4();
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    b.hands.commit(replica, b.hands.done(&held, json!({ "runtime_id": runtime }))).await;
    let mut untouched = b.hands.done(&held, json!({ "provider": "AWS" }));
    untouched.serial += 1;
    b.hands.commit(replica, untouched).await;
    let before = b.find("one").await.runtime_id;
    let mut away = b.hands.done(&held, json!({ "runtime_id": null }));
    away.serial += 2;

    let landed = b.hands.commit(replica, away).await;

    assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
    assert_eq!((before, b.find("one").await.runtime_id), (Some(runtime), None));
    assert!(b.store.find_by_runtime(runtime).await.unwrap().is_none());
}

pub(crate) async fn a_fenced_commit_changes_no_instance(b: Bench) {
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;
    for change in [json!({ "details": {}, "deleted": true }), json!({ "removed": true })] {
        let mut commit = b.hands.done(&held, change);
        commit.serial += 7;

        let landed = b.hands.commit(replica, commit).await;

        assert_eq!(landed, CommitResult::Fenced);
    }

    let found = b.find("one").await;
    assert_eq!((found.details.as_slice(), found.revision), (&b""[..], 1));
    assert_eq!(found.deleted_at, None);
}

pub(crate) async fn a_runtime_belongs_to_one_instance(b: Bench) {
    let runtime = Uuid::new_v4();
    b.made("one", json!({ "runtime_id": runtime })).await;
    b.order(&instance("other")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "other").await;

    let landed =
        b.hands.commit(replica, b.hands.done(&held, json!({ "runtime_id": runtime }))).await;

    assert!(matches!(landed, CommitResult::Rejected(_)), "{landed:?}");
    assert_eq!(b.store.find_by_runtime(runtime).await.unwrap().unwrap().id, "one");
    assert_eq!(b.find("other").await.runtime_id, None);
}

pub(crate) async fn what_a_change_does_not_mean_is_refused_without_telling_it(b: Bench) {
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let held = b.hands.claim(replica, "one").await;

    for (change, word) in [
        (json!({ "deleted": true, "colour": "hunter2" }), "colour"),
        (json!({ "colour": null }), "colour"),
        (json!({ "details": "hunter2!" }), "details"),
        (json!({ "order": "hunter2!" }), "order"),
        (json!({ "runtime_id": "hunter2" }), "runtime_id"),
        (json!({ "region": ["hunter2"] }), "region"),
        (json!({ "provider": "hunter2\0" }), "provider"),
        (json!({ "deleted": "hunter2" }), "deleted"),
        (json!({ "removed": "hunter2" }), "removed"),
        (json!({ "runtime_state": { "payload": {}, "colour": "hunter2" } }), "runtime_state"),
        (json!({ "runtime_state": { "payload": {}, "holds": ["hunter2"] } }), "holds"),
        (json!({ "runtime_state": { "payload": { "no": "runtime" } } }), "no runtime"),
        (json!("hunter2"), "no fields"),
    ] {
        let landed = b.hands.commit(replica, b.hands.done(&held, change)).await;
        let CommitResult::Rejected(text) = &landed else { panic!("{landed:?}") };
        assert!(text.contains(word) && !text.contains("hunter2"), "{text}");
    }

    let found = b.find("one").await;
    assert_eq!((found.revision, found.deleted_at), (1, None));
}

/// A value as a change has it.
fn document(value: &Value) -> String {
    STANDARD.encode(value.to_string())
}

pub(crate) async fn a_field_of_the_order_keeps_a_value_that_is_newer_than_the_change(b: Bench) {
    let order = json!({ "said": "before", "other": 1, "revisions": { "said": 2 } });
    b.order(&instance("one")).await;
    let replica = b.hands.join().await;
    let mut held = b.hands.claim(replica, "one").await;
    let stored = b.hands.done(&held, json!({ "order": document(&order) }));
    b.hands.commit(replica, stored).await;

    for (at, known, said) in [
        ("/revisions/said", 1, "before"),
        ("/revisions/said", 2, "equal"),
        ("/revisions/said", 3, "known"),
        ("/revisions/none", 0, "unnumbered"),
    ] {
        held.serial += 1;
        let commit = b.hands.done(
            &held,
            json!({
                "order_fields": { "/said": document(&json!(said)), "/other": document(&json!(known)) },
                "revised_fields": { "/said": { "at": at, "known": known } },
            }),
        );
        let landed = b.hands.commit(replica, commit).await;

        assert!(matches!(landed, CommitResult::Yes { .. }), "{landed:?}");
        let after: Value = serde_json::from_slice(&b.find("one").await.order).unwrap();
        let expected = json!({ "said": said, "other": known, "revisions": { "said": 2 } });
        assert_eq!(after, expected, "{known}");
    }
}
