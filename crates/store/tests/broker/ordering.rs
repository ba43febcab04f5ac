//! An instance and its first operation land together, or neither of them; a repetition is recognised.

use engine::{State, Storage as _};
use futures::future::join_all;
use store::{
    Error,
    broker::{AcceptedInstance, InstanceLimits, LONGEST, NewInstance},
};

use crate::bench::{Bench, instance, operation, queue};

const INSTANCES: &str = "SELECT count(*) FROM instances";
const OPERATIONS: &str = "SELECT count(*) FROM operations";

pub(crate) async fn a_new_instance_is_stored_with_its_operation(b: Bench) {
    let mut new = instance("one");
    new.details = Some(b"details".to_vec());

    let id = b.order(&new).await;

    let found = b.find("one").await;
    assert_eq!(
        (found.global_account.as_str(), found.subaccount.as_str()),
        ("account", "subaccount")
    );
    assert_eq!((found.service_id.as_str(), found.plan_id.as_str()), ("service", "plan-id"));
    assert_eq!((found.plan_name.as_str(), found.shoot_name.as_str()), ("aws", "c-one"));
    assert_eq!((found.provider.as_str(), found.region.as_str()), ("", ""));
    assert_eq!(found.platform_region, "cf-eu10");
    assert_eq!(found.dashboard_url, "https://dashboard.test");
    assert_eq!(
        (found.order.as_slice(), found.details.as_slice()),
        (&b"order"[..], &b"details"[..])
    );
    assert_eq!((found.revision, found.runtime_id), (1, None));
    assert_eq!((found.created_at, found.updated_at), (b.clock.now(), b.clock.now()));
    assert_eq!((found.deleted_at, found.expired_at), (None, None));
    assert_eq!(b.engine.read(id).await.unwrap().unwrap().state, State::Pending);
    assert_eq!(b.store.operation_belongs(id).await.unwrap().as_deref(), Some("one"));
}

pub(crate) async fn an_operation_that_cannot_be_stored_leaves_no_instance(b: Bench) {
    let new = instance("one");
    let first = operation("one");
    b.execute("ALTER TABLE operation_data RENAME TO mislaid").await;

    b.store.accept_new(&new, b"one", first.clone(), &InstanceLimits::default()).await.unwrap_err();

    b.execute("ALTER TABLE mislaid RENAME TO operation_data").await;
    assert!(b.is_gone("one").await && !b.is_stored(first.id).await);
    assert_eq!(b.accept_new(&new, first).await, AcceptedInstance::Accepted);
}

pub(crate) async fn an_operation_of_another_instance_is_not_taken_over(b: Bench) {
    let id = b.order(&instance("one")).await;
    let mut stolen = operation("other");
    stolen.id = id;

    let other = instance("other");
    let error =
        b.store.accept_new(&other, b"", stolen, &InstanceLimits::default()).await.unwrap_err();

    assert!(matches!(error, Error::Refused(_)), "{error:?}");
    assert!(b.is_gone("other").await);
}

pub(crate) async fn an_operation_must_name_its_instance(b: Bench) {
    b.ready("there").await;
    let (new, astray) = (instance("new"), operation("elsewhere"));

    let first = b.store.accept_new(&new, b"", astray.clone(), &InstanceLimits::default()).await;
    let next = b.store.accept("there", 1, astray, &queue, None).await;

    assert!(matches!((first, next), (Err(Error::Refused(_)), Err(Error::Refused(_)))));
    assert_eq!(b.count(INSTANCES).await, 1);
}

pub(crate) async fn a_request_is_told_from_another_under_the_same_id(b: Bench) {
    let new = instance("one");
    let first = b.order(&new).await;
    let replica = b.hands.join().await;
    let hand_in = |digest: &'static [u8]| {
        let (store, new) = (b.store.clone(), new.clone());
        async move { store.accept_new(&new, digest, operation("one"), &InstanceLimits::default()).await }
    };

    let (same, other) = (hand_in(b"one").await.unwrap(), hand_in(b"two").await.unwrap());
    b.hands.end(replica, "one", serde_json::json!({ "order": { "changed": true } })).await;
    let afterwards = hand_in(b"one").await.unwrap();

    assert_eq!(same, AcceptedInstance::Same { operation: first });
    assert_eq!(other, AcceptedInstance::Conflict { operation: first });
    assert_eq!(afterwards, AcceptedInstance::Same { operation: first });
    assert_eq!(b.count(OPERATIONS).await, 1);
}

pub(crate) async fn a_request_is_recognised_after_the_keys_were_rotated(b: Bench) {
    let new = instance("one");
    let first = b.order(&new).await;
    let store = b.with_keys(&["new", "old"]);

    let same = store.accept_new(&new, b"one", operation("one"), &InstanceLimits::default()).await;

    assert_eq!(same.unwrap(), AcceptedInstance::Same { operation: first });
}

pub(crate) async fn of_fifty_orders_under_one_id_one_is_accepted_and_the_others_are_told(b: Bench) {
    let new = instance("one");
    let hand_in = |n: usize| {
        let (store, new) = (b.store.clone(), new.clone());
        let request = [u8::from(n.is_multiple_of(2))];
        async move {
            store.accept_new(&new, &request, operation("one"), &InstanceLimits::default()).await
        }
    };

    let answers: Vec<_> = join_all((0..50).map(hand_in)).await;

    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let winner = answers.iter().position(|a| *a == AcceptedInstance::Accepted).unwrap();
    let operation = b.store.last_operation("one", None).await.unwrap().unwrap();
    for (n, answer) in answers.iter().enumerate().filter(|(n, _)| *n != winner) {
        let same = n.is_multiple_of(2) == winner.is_multiple_of(2);
        let expected = if same {
            AcceptedInstance::Same { operation }
        } else {
            AcceptedInstance::Conflict { operation }
        };
        assert_eq!(*answer, expected);
    }
    assert_eq!(b.count(OPERATIONS).await, 1);
}

pub(crate) async fn an_order_repeated_after_a_lost_answer_stores_nothing_more(b: Bench) {
    let new = instance("one");
    let first = operation("one");
    b.accept_new(&new, first.clone()).await;

    let at_once = b.accept_new(&new, first.clone()).await;
    let replica = b.hands.join().await;
    b.hands.end(replica, "one", serde_json::json!({ "removed": true })).await;
    let much_later = b.accept_new(&new, first).await;

    assert_eq!(at_once, AcceptedInstance::Accepted);
    assert_eq!(much_later, AcceptedInstance::Accepted);
    assert_eq!(b.count(OPERATIONS).await, 1);
    assert_eq!(b.count(INSTANCES).await, 0);
}

pub(crate) async fn an_id_is_any_text_that_is_not_too_long(b: Bench) {
    let long = "ü".repeat(LONGEST / 2);
    let ids = ["a", " ", "a/b?c=%00#d", "Ünïcode 🦀", "'; DROP TABLE instances --", long.as_str()];

    for id in ids {
        b.order(&NewInstance { shoot_name: "c-1".into(), ..instance(id) }).await;
    }

    for id in ids {
        assert_eq!(b.find(id).await.id, id);
        assert!(b.store.last_operation(id, None).await.unwrap().is_some());
    }
    assert!(b.is_gone("A").await);
    for unknown in [String::new(), "a\0".into(), "x".repeat(LONGEST + 1)] {
        assert!(b.is_gone(&unknown).await);
        assert_eq!(b.store.last_operation(&unknown, None).await.unwrap(), None);
    }
}

pub(crate) async fn what_cannot_be_stored_is_refused_by_name(b: Bench) {
    let long = "x".repeat(LONGEST + 1);
    let mut bad = vec![instance(""), instance(&long), instance("a\0")];
    bad.extend(std::iter::repeat_n(instance("one"), 4));
    bad[3].global_account = String::new();
    bad[4].subaccount.clone_from(&long);
    bad[5].shoot_name = long;
    bad[6].dashboard_url = "\0".into();
    let words = ["id", "id", "id", "global account", "subaccount", "Shoot", "dashboard URL"];

    for (new, word) in bad.iter().zip(words) {
        let order = operation(&new.id);
        let refused =
            b.store.accept_new(new, b"", order, &InstanceLimits::default()).await.unwrap_err();
        let Error::Refused(text) = &refused else { panic!("{refused:?}") };
        assert!(text.contains(word), "{text}");
    }

    assert_eq!(b.count(INSTANCES).await, 0);
}
