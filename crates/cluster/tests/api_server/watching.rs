//! Watches: every change once, in order, and under parallel writes.

mod limits;

use futures::StreamExt;
use kube::{
    ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::json;

use crate::support::{start, thing};

fn told(event: &WatchEvent<DynamicObject>) -> (&'static str, String, i64) {
    let told = |what, object: &DynamicObject| {
        (what, object.name_any(), object.data["spec"]["n"].as_i64().unwrap_or(-1))
    };
    match event {
        WatchEvent::Added(object) => told("added", object),
        WatchEvent::Modified(object) => told("modified", object),
        WatchEvent::Deleted(object) => told("deleted", object),
        WatchEvent::Bookmark(bookmark) => {
            ("bookmark", bookmark.metadata.resource_version.clone(), -1)
        }
        WatchEvent::Error(status) => ("error", status.reason.clone(), i64::from(status.code)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_delivers_every_change_once_in_order_and_resumes() {
    let running = start().await;
    let things = running.things().await;
    let made = things.create(&PostParams::default(), &thing("a", json!({"n": 0}))).await.unwrap();
    let writer = tokio::spawn({
        let things = things.clone();
        async move {
            for n in 1..=200 {
                let patch = Patch::Merge(json!({"spec": {"n": n}}));
                things.patch("a", &PatchParams::default(), &patch).await.unwrap();
            }
        }
    });

    let mut seen = Vec::new();
    let mut version = made.resource_version().unwrap();
    let mut events = Box::pin(things.watch(&WatchParams::default(), &version).await.unwrap());
    for n in 1..=200 {
        if n % 17 == 0 {
            // This watch is left, and the next one carries on from the last version seen.
            events = Box::pin(things.watch(&WatchParams::default(), &version).await.unwrap());
        }
        let event = events.next().await.unwrap().unwrap();
        if let WatchEvent::Modified(object) = &event {
            version = object.resource_version().unwrap();
        }
        seen.push(told(&event).2);
    }
    writer.await.unwrap();

    assert_eq!(seen, (1..=200).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn under_parallel_writes_a_watch_loses_nothing_and_repeats_nothing() {
    let running = start().await;
    let things = running.things().await;
    let mut events = Box::pin(things.watch(&WatchParams::default(), "0").await.unwrap());
    for writer in 0..8 {
        let things = things.clone();
        tokio::spawn(async move {
            for n in 0..50 {
                let name = format!("t-{writer}-{n}");
                things
                    .create(&PostParams::default(), &thing(&name, json!({"n": 0})))
                    .await
                    .unwrap();
                let patch = Patch::Merge(json!({"spec": {"n": 1}}));
                things.patch(&name, &PatchParams::default(), &patch).await.unwrap();
                things.delete(&name, &DeleteParams::default()).await.unwrap();
            }
        });
    }

    let mut seen = std::collections::BTreeMap::<String, Vec<&str>>::new();
    for _ in 0..8 * 50 * 3 {
        let (what, name, _) = told(&events.next().await.unwrap().unwrap());
        seen.entry(name).or_default().push(what);
    }

    assert_eq!(seen.len(), 8 * 50);
    assert!(seen.values().all(|life| *life == ["added", "modified", "deleted"]));
}
