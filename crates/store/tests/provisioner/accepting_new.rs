//! A runtime, its first operation and the answer to its intent land together, or none of them.

use engine::{State, Storage as _};
use futures::future::join_all;
use store::{Error, provisioner::NewRuntimeResult};
use uuid::Uuid;

use crate::bench::{Bench, operation, runtime};

const RUNTIMES: &str = "SELECT count(*) FROM runtimes";
const ANSWERED: &str = "SELECT count(*) FROM intents WHERE operation_id IS NOT NULL";

pub(crate) async fn a_new_runtime_is_stored_with_its_operation_and_answers_its_intent(b: Bench) {
    let ordered = runtime("shoot");
    let first = operation(ordered.id);
    let id = first.id;
    let intent = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();

    let answer = b.store.accept_new(&ordered, Some(intent.id), first).await.unwrap();

    assert_eq!(answer, NewRuntimeResult::Accepted);
    let found = b.find(ordered.id).await;
    assert_eq!((found.tenant.as_str(), found.subaccount.as_str()), ("tenant", "subaccount"));
    assert_eq!((found.shoot.as_str(), found.document.as_slice()), ("shoot", &b"document"[..]));
    assert_eq!((found.revision, found.created_at), (1, b.clock.now()));
    assert!(found.kubeconfig.is_none() && found.provisioned_at.is_none());
    assert!(found.deleted_at.is_none());
    assert_eq!(b.engine.read(id).await.unwrap().unwrap().state, State::Pending);
    let again = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    assert_eq!((again.runtime, again.operation), (Some(ordered.id), Some(id)));
}

pub(crate) async fn an_operation_that_cannot_be_stored_leaves_no_runtime_and_no_answer(b: Bench) {
    let ordered = runtime("shoot");
    let first = operation(ordered.id);
    let intent = b.store.begin_intent("tenant", None, b"request").await.unwrap();
    b.execute("ALTER TABLE operation_data RENAME TO mislaid").await;

    b.store.accept_new(&ordered, Some(intent.id), first.clone()).await.unwrap_err();

    b.execute("ALTER TABLE mislaid RENAME TO operation_data").await;
    assert!(b.store.find(ordered.id).await.unwrap().is_none());
    assert!(!b.is_stored(first.id).await);
    assert_eq!(b.count(ANSWERED).await, 0);
    let again = b.store.accept_new(&ordered, Some(intent.id), first).await.unwrap();
    assert_eq!(again, NewRuntimeResult::Accepted);
}

pub(crate) async fn an_operation_of_another_runtime_is_not_taken_over(b: Bench) {
    let one = runtime("one");
    let id = b.order(&one).await;
    let other = runtime("other");
    let mut stolen = operation(other.id);
    stolen.id = id;

    let error = b.store.accept_new(&other, None, stolen).await.unwrap_err();

    assert!(matches!(error, Error::Refused(_)), "{error:?}");
    assert!(b.store.find(other.id).await.unwrap().is_none());
}

pub(crate) async fn an_operation_must_name_its_runtime(b: Bench) {
    let there = b.ready("there").await;
    let new = runtime("new");
    let astray = operation(Uuid::new_v4());

    let first = b.store.accept_new(&new, None, astray.clone()).await.unwrap_err();
    let next = b.store.accept(there.id, 1, None, astray, &crate::bench::queue).await.unwrap_err();

    assert!(matches!((first, next), (Error::Refused(_), Error::Refused(_))));
    assert_eq!(b.count(RUNTIMES).await, 1);
}

pub(crate) async fn a_name_is_taken_until_its_runtime_is_deleted(b: Bench) {
    let first = runtime("shoot");
    b.order(&first).await;
    let second = runtime("shoot");

    let answer = b.store.accept_new(&second, None, operation(second.id)).await.unwrap();

    assert_eq!(answer, NewRuntimeResult::NameTaken);
    assert!(b.store.find(second.id).await.unwrap().is_none());
    assert_eq!(b.store.last_operation(second.id).await.unwrap(), None);
    let replica = b.hands.join().await;
    b.hands.end(replica, first.id, serde_json::json!({ "deleted": true })).await;
    b.order(&second).await;
    assert_eq!(b.count(RUNTIMES).await, 2);
}

pub(crate) async fn of_fifty_orders_for_one_name_one_is_accepted(b: Bench) {
    let orders: Vec<_> = (0..50).map(|_| runtime("shoot")).collect();

    let answers =
        join_all(orders.iter().map(|order| b.store.accept_new(order, None, operation(order.id))))
            .await;

    let count = |wanted| answers.iter().filter(|a| *a.as_ref().unwrap() == wanted).count();
    assert_eq!((count(NewRuntimeResult::Accepted), count(NewRuntimeResult::NameTaken)), (1, 49));
    assert_eq!(b.count("SELECT count(*) FROM operations").await, 1);
}

pub(crate) async fn an_id_is_never_used_again(b: Bench) {
    let gone = b.deleted("shoot").await;
    let mut again = runtime("another");
    again.id = gone.id;

    let answer = b.store.accept_new(&again, None, operation(gone.id)).await.unwrap();

    assert_eq!(answer, NewRuntimeResult::IdTaken);
    assert_eq!(b.find(gone.id).await.shoot, "shoot");
}

pub(crate) async fn an_order_repeated_after_a_lost_answer_stores_nothing_more(b: Bench) {
    let ordered = runtime("shoot");
    let first = operation(ordered.id);
    let intent = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    b.store.accept_new(&ordered, Some(intent.id), first.clone()).await.unwrap();

    let at_once = b.store.accept_new(&ordered, Some(intent.id), first.clone()).await.unwrap();
    let replica = b.hands.join().await;
    b.hands.end(replica, ordered.id, serde_json::json!({ "document": {}, "deleted": true })).await;
    b.wait(1);
    b.store.trim_intents(b.clock.now()).await.unwrap();
    let much_later = b.store.accept_new(&ordered, Some(intent.id), first.clone()).await.unwrap();

    assert_eq!((at_once, much_later), (NewRuntimeResult::Accepted, NewRuntimeResult::Accepted));
    assert_eq!(b.count("SELECT count(*) FROM operations").await, 1);
    assert_eq!(b.find(ordered.id).await.document, b"{}");
}

pub(crate) async fn an_order_whose_intent_is_gone_stores_nothing(b: Bench) {
    let dropped = b.store.begin_intent("tenant", None, b"request").await.unwrap().id;
    assert!(b.store.drop_intent(dropped).await.unwrap());
    let foreign = b.store.begin_intent("another tenant", None, b"request").await.unwrap().id;
    let answered = b.store.begin_intent("tenant", None, b"request").await.unwrap().id;
    let other = runtime("other");
    b.store.accept_new(&other, Some(answered), operation(other.id)).await.unwrap();
    let registered = b.store.begin_intent("tenant", None, b"request").await.unwrap().id;
    b.store.note_registered(registered, Uuid::new_v4()).await.unwrap();

    for intent in [dropped, foreign, answered, registered] {
        let order = runtime("shoot");
        let answer = b.store.accept_new(&order, Some(intent), operation(order.id)).await.unwrap();
        assert_eq!(answer, NewRuntimeResult::IntentGone);
    }

    assert_eq!(b.count(RUNTIMES).await, 1);
}
