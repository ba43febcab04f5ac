//! Reading runtimes, and the writes that come without an operation.

use engine::storage::Acceptance;
use secrecy::ExposeSecret as _;
use store::RowAcceptance;
use uuid::Uuid;

use crate::bench::{Bench, kubeconfig, operation, queue, refuse, runtime};

pub(crate) async fn pages_of_a_tenant_and_of_all_follow_each_other_without_gaps(b: Bench) {
    let mut ids = [Vec::new(), Vec::new()];
    for n in 0..7 {
        let mut runtime = runtime(&format!("shoot-{n}"));
        runtime.tenant = format!("tenant-{}", n % 2);
        b.order(&runtime).await;
        ids[n % 2].push(runtime.id);
    }
    let mut all = ids.concat();
    all.sort();
    for expected in &mut ids {
        expected.sort();
    }

    for (tenant, expected) in
        [(Some("tenant-0"), &ids[0]), (Some("tenant-1"), &ids[1]), (None, &all)]
    {
        let mut found = Vec::new();
        loop {
            let after = found.last().copied();
            let page = b.store.list(tenant, after, 2).await.unwrap();
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= 2 && page.iter().all(|one| one.document == b"document"));
            found.extend(page.iter().map(|runtime| runtime.id));
        }
        assert_eq!(found, *expected, "{tenant:?}");
    }
    assert!(b.store.list(Some("nobody"), None, 10).await.unwrap().is_empty());
}

pub(crate) async fn the_last_operation_is_the_newest(b: Bench) {
    let (one, other) = (runtime("one"), runtime("other"));
    let first = b.order(&one).await;
    let newest = operation(one.id);
    let id = newest.id;

    assert_eq!(b.store.last_operation(one.id).await.unwrap(), Some(first));
    b.wait(1);
    b.store.accept(one.id, 1, None, newest, &queue).await.unwrap();
    b.wait(1);
    b.order(&other).await;

    assert_eq!(b.store.last_operation(one.id).await.unwrap(), Some(id));
    assert_eq!(b.store.last_operation(Uuid::new_v4()).await.unwrap(), None);
}

pub(crate) async fn a_document_is_replaced_while_nothing_is_unfinished(b: Bench) {
    let busy = runtime("busy");
    b.order(&busy).await;
    let idle = b.ready("idle").await;
    let deleted = b.deleted("deleted").await;

    assert!(!b.store.replace(busy.id, 1, b"new", None).await.unwrap());
    assert!(b.store.replace(idle.id, idle.revision, b"new", None).await.unwrap());
    assert!(!b.store.replace(idle.id, idle.revision, b"stale", None).await.unwrap());
    assert!(!b.store.replace(deleted.id, deleted.revision, b"new", None).await.unwrap());
    assert!(!b.store.replace(Uuid::new_v4(), 1, b"new", None).await.unwrap());

    assert_eq!(b.find(busy.id).await.document, b"document");
    let found = b.find(idle.id).await;
    assert_eq!((found.document.as_slice(), found.revision), (&b"new"[..], idle.revision + 1));
}

pub(crate) async fn of_a_replacement_and_an_acceptance_from_one_revision_one_wins(b: Bench) {
    let replica = b.hands.join().await;
    let runtime = b.ready("shoot").await;
    for round in 0..50 {
        let revision = b.find(runtime.id).await.revision;

        let (replaced, accepted) = futures::join!(
            b.store.replace(runtime.id, revision, b"replaced", None),
            b.store.accept(runtime.id, revision, Some(b"new"), operation(runtime.id), &refuse),
        );

        let expected = if replaced.unwrap() {
            assert_eq!(accepted.unwrap(), RowAcceptance::Changed, "in round {round}");
            &b"replaced"[..]
        } else {
            let started = RowAcceptance::Yes(Acceptance::Started);
            assert_eq!(accepted.unwrap(), started, "in round {round}");
            b.hands.end(replica, runtime.id, serde_json::Value::Null).await;
            &b"new"[..]
        };
        let found = b.find(runtime.id).await;
        assert_eq!((found.document.as_slice(), found.revision), (expected, revision + 1));
    }
}

pub(crate) async fn a_kubeconfig_is_kept_while_the_runtime_is_there(b: Bench) {
    let there = b.ready("there").await;
    let gone = b.deleted("gone").await;
    let kubeconfig = kubeconfig("apiVersion: v1");

    b.store.save_kubeconfig(there.id, &kubeconfig).await.unwrap();
    b.store.save_kubeconfig(gone.id, &kubeconfig).await.unwrap();

    let found = b.find(there.id).await;
    let kept = found.kubeconfig.as_ref().unwrap();
    assert_eq!((kept.text.expose_secret(), kept.until), ("apiVersion: v1", kubeconfig.until));
    assert_eq!(found.revision, there.revision);
    assert!(b.find(gone.id).await.kubeconfig.is_none());
    let printed = format!("{found:?}");
    assert!(!printed.contains("apiVersion") && printed.contains("there"), "{printed}");
}

pub(crate) async fn the_uid_of_a_shoot_is_kept_once(b: Bench) {
    let (seen, made) = (b.ready("seen").await, runtime("made"));
    assert_eq!(b.store.shoot_uid(seen.id).await.unwrap(), None);

    b.store.keep_shoot_uid(seen.id, "u-1").await.unwrap();
    b.store.keep_shoot_uid(seen.id, "u-2").await.unwrap();
    b.order(&made).await;
    let replica = b.hands.join().await;
    b.hands.end(replica, made.id, serde_json::json!({ "shoot_uid": "u-3" })).await;

    assert_eq!(b.store.shoot_uid(seen.id).await.unwrap().as_deref(), Some("u-1"));
    assert_eq!(b.find(made.id).await.shoot_uid.as_deref(), Some("u-3"));
    assert_eq!(b.store.shoot_uid(Uuid::new_v4()).await.unwrap(), None);
}

pub(crate) async fn failures_are_listed_until_they_are_told(b: Bench) {
    let mut open = [b.ready("one").await.id, b.ready("two").await.id, b.ready("three").await.id];
    open.sort();
    b.deleted("gone").await;
    let done = runtime("done");
    b.order(&done).await;
    let replica = b.hands.join().await;
    b.hands.end(replica, done.id, serde_json::json!({ "provisioned": true })).await;
    let ids = |page: Vec<(Uuid, String)>| page.into_iter().map(|(id, _)| id).collect::<Vec<_>>();

    let first = ids(b.store.not_provisioned(None, 2).await.unwrap());
    let rest = ids(b.store.not_provisioned(first.last().copied(), 2).await.unwrap());
    b.store.note_failure_told(open[1]).await.unwrap();
    let left = ids(b.store.not_provisioned(None, 10).await.unwrap());

    assert_eq!((first, rest), (open[..2].to_vec(), open[2..].to_vec()));
    assert_eq!(left, [open[0], open[2]]);
}
