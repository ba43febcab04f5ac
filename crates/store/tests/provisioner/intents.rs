//! An order that was begun is found again by its key, and cleaned up when nobody goes on with it.

use futures::future::join_all;
use store::{Error, provisioner::AbandonedIntent};
use uuid::Uuid;

use crate::bench::{Bench, operation, runtime};

pub(crate) async fn a_key_begins_one_intent_per_tenant(b: Bench) {
    let first = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    b.wait(60);

    let same = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    let differs = b.store.begin_intent("tenant", Some("key"), b"another").await.unwrap();
    let elsewhere = b.store.begin_intent("another", Some("key"), b"request").await.unwrap();
    let keyless = b.store.begin_intent("tenant", None, b"request").await.unwrap();
    let keyless_too = b.store.begin_intent("tenant", None, b"request").await.unwrap();

    assert!(first.new && first.digest_matches);
    assert_eq!((same.id, same.new, same.digest_matches), (first.id, false, true));
    assert_eq!(same.created_at, first.created_at);
    assert_eq!((differs.id, differs.new, differs.digest_matches), (first.id, false, false));
    assert!(elsewhere.new && keyless.new && keyless_too.new);
    // Each tenant's repetition finds its own, in any order.
    let elsewhere_again = b.store.begin_intent("another", Some("key"), b"request").await.unwrap();
    assert_eq!((elsewhere_again.id, elsewhere_again.new), (elsewhere.id, false));
    assert_ne!(elsewhere.id, first.id);
}

pub(crate) async fn fifty_beginnings_with_one_key_are_one_intent(b: Bench) {
    let begin = |_| b.store.begin_intent("tenant", Some("key"), b"request");

    let intents = join_all((0..50).map(begin)).await;

    let intents: Vec<_> = intents.into_iter().map(Result::unwrap).collect();
    assert_eq!(intents.iter().filter(|intent| intent.new).count(), 1);
    assert!(intents.iter().all(|intent| intent.id == intents[0].id && intent.digest_matches));
}

pub(crate) async fn a_request_is_recognised_after_the_keys_were_rotated(b: Bench) {
    b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();

    let rotated = b.with_keys(&["new", "old"]);
    let same = rotated.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    let differs = rotated.begin_intent("tenant", Some("key"), b"another").await.unwrap();

    assert!(same.digest_matches && !differs.digest_matches);
}

pub(crate) async fn an_intent_has_one_runtime(b: Bench) {
    let intent = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap().id;
    let (runtime, other) = (Uuid::new_v4(), Uuid::new_v4());

    b.store.note_registered(intent, runtime).await.unwrap();
    b.store.note_registered(intent, runtime).await.unwrap();
    let another = b.store.note_registered(intent, other).await.unwrap_err();
    let unknown = b.store.note_registered(Uuid::new_v4(), other).await.unwrap_err();

    assert!(matches!((another, unknown), (Error::Refused(_), Error::Refused(_))));
    let found = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    assert_eq!((found.runtime, found.operation), (Some(runtime), None));
}

pub(crate) async fn an_answered_intent_is_not_dropped(b: Bench) {
    let open = b.store.begin_intent("tenant", None, b"request").await.unwrap().id;
    let answered = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap().id;
    let order = runtime("shoot");
    b.store.accept_new(&order, Some(answered), operation(order.id)).await.unwrap();

    assert!(!b.store.drop_intent(answered).await.unwrap());
    assert!(b.store.drop_intent(open).await.unwrap());
    assert!(!b.store.drop_intent(open).await.unwrap());

    let found = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    assert_eq!((found.id, found.runtime), (answered, Some(order.id)));
}

/// Id, tenant and runtime of intents.
fn plain(intents: &[AbandonedIntent]) -> Vec<(Uuid, String, Option<Uuid>)> {
    intents.iter().map(|it| (it.id, it.tenant.clone(), it.runtime_id)).collect()
}

pub(crate) async fn the_abandoned_are_listed_oldest_first_and_the_answered_trimmed(b: Bench) {
    let answered = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap().id;
    let order = runtime("shoot");
    b.store.accept_new(&order, Some(answered), operation(order.id)).await.unwrap();
    let mut open = Vec::new();
    for n in 0..3 {
        b.wait(60);
        let tenant = format!("tenant-{n}");
        let id = b.store.begin_intent(&tenant, None, b"request").await.unwrap().id;
        open.push((id, tenant, None));
    }
    let registered = Uuid::new_v4();
    b.store.note_registered(open[1].0, registered).await.unwrap();
    open[1].2 = Some(registered);
    let now = b.clock.now();

    let abandoned = b.store.abandoned_intents(now, None, 10).await.unwrap();
    let oldest = b.store.abandoned_intents(now, None, 1).await.unwrap();
    let next = b.store.abandoned_intents(now, oldest.last(), 1).await.unwrap();
    let none = b.store.abandoned_intents(now, next.last(), 1).await.unwrap();
    let trimmed = b.store.trim_intents(now).await.unwrap();

    assert_eq!(plain(&abandoned), open[..2]);
    assert_eq!(plain(&oldest), open[..1]);
    assert_eq!(plain(&next), open[1..2]);
    assert_eq!(none, []);
    assert_eq!(trimmed, 1);
    assert_eq!(b.count("SELECT count(*) FROM intents").await, 3);
    assert!(b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap().new);
}

pub(crate) async fn an_answered_intent_is_forgotten_with_its_operation_only(b: Bench) {
    let intent = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap().id;
    let order = runtime("shoot");
    let operation = operation(order.id);
    let id = operation.id;
    b.store.accept_new(&order, Some(intent), operation).await.unwrap();

    b.store.forget_intent(intent, Uuid::new_v4()).await.unwrap();
    let kept = b.store.begin_intent("tenant", Some("key"), b"request").await.unwrap();
    b.store.forget_intent(intent, id).await.unwrap();
    let fresh = b.store.begin_intent("tenant", Some("key"), b"another").await.unwrap();

    assert_eq!((kept.id, kept.operation), (intent, Some(id)));
    assert!(fresh.new && fresh.operation.is_none());
}

pub(crate) async fn a_registration_that_nobody_wants_is_abandoned_from_the_start(b: Bench) {
    let registered = Uuid::new_v4();
    let orphan = b.store.note_orphan("tenant", registered).await.unwrap();
    b.wait(60);

    let abandoned = b.store.abandoned_intents(b.clock.now(), None, 10).await.unwrap();

    assert_eq!(plain(&abandoned), [(orphan, "tenant".to_owned(), Some(registered))]);
    assert!(b.store.drop_intent(orphan).await.unwrap());
}

pub(crate) async fn a_request_without_a_key_has_one_of_its_own(b: Bench) {
    let (one, same) = (b.store.content_key(b"request"), b.store.content_key(b"request"));
    let other = b.store.content_key(b"another");

    assert_eq!(one, same);
    assert_ne!(one, other);
    assert!(!one.contains("request"));
}
