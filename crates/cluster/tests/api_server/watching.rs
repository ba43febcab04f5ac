//! Watches: every change once, in order, resumable, and cut off when too far behind.

use std::time::Duration;

use base::Clock;
use futures::{StreamExt, TryStreamExt};
use kube::{
    ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::watcher,
};
use serde_json::json;

use crate::support::{catalog, start, start_with, thing};

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

#[tokio::test]
async fn a_watch_from_too_long_ago_is_told_that_it_is_gone() {
    let running =
        start_with(catalog(), Clock::running(), |settings| settings.history.changes = 5).await;
    let things = running.things().await;
    let made = things.create(&PostParams::default(), &thing("a", json!({"n": 0}))).await.unwrap();
    for n in 1..=10 {
        let patch = Patch::Merge(json!({"spec": {"n": n}}));
        things.patch("a", &PatchParams::default(), &patch).await.unwrap();
    }

    let version = made.resource_version().unwrap();
    let events = things.watch(&WatchParams::default(), &version).await.unwrap();
    let events: Vec<_> = events.try_collect().await.unwrap();

    assert_eq!(events.iter().map(told).collect::<Vec<_>>(), [("error", "Expired".into(), 410)]);
}

#[tokio::test]
async fn objects_that_come_and_go_by_their_labels_are_added_and_deleted() {
    let running = start().await;
    let things = running.things().await;
    let params = WatchParams::default().labels("in=yes");
    let mut events = Box::pin(things.watch(&params, "0").await.unwrap());
    let label = |value: &str| Patch::Merge(json!({"metadata": {"labels": {"in": value}}}));
    let mut next = async || told(&events.next().await.unwrap().unwrap()).0;

    things.create(&PostParams::default(), &thing("other", json!({}))).await.unwrap();
    things.create(&PostParams::default(), &thing("a", json!({}))).await.unwrap();
    things.patch("a", &PatchParams::default(), &label("yes")).await.unwrap();
    things.patch("a", &PatchParams::default(), &label("no")).await.unwrap();
    things.patch("a", &PatchParams::default(), &label("yes")).await.unwrap();
    things.delete("a", &DeleteParams::default()).await.unwrap();

    let seen = [next().await, next().await, next().await, next().await];
    assert_eq!(seen, ["added", "deleted", "added", "deleted"]);
}

#[tokio::test]
async fn bookmarks_come_by_the_clock_and_the_watch_ends_when_it_should() {
    let noon = "2026-01-01T12:00:00Z".parse().unwrap();
    let running = start_with(catalog(), Clock::held_at(noon), |_| {}).await;
    let things = running.things().await;
    let params = WatchParams::default().timeout(90);
    let events = things.watch(&params, "0").await.unwrap();
    let collecting = tokio::spawn(events.try_collect::<Vec<_>>());

    // The clock stands still unless moved, and the watch may not have begun to wait yet.
    while !collecting.is_finished() {
        running.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }

    let events = collecting.await.unwrap().unwrap();
    assert!(events.len() >= 2, "{events:?}");
    assert!(events.iter().all(|event| told(event).0 == "bookmark"));
}

#[tokio::test]
async fn the_watcher_of_kube_sees_what_is_there_and_what_comes() {
    let running = start().await;
    let things = running.things().await;
    things.create(&PostParams::default(), &thing("before", json!({}))).await.unwrap();
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let mut events = Box::pin(watcher(things.clone(), config));
        let mut next = async || events.next().await.unwrap().unwrap();

        let first = [next().await, next().await, next().await];
        things.create(&PostParams::default(), &thing("after", json!({}))).await.unwrap();
        let came = next().await;
        things.delete("after", &DeleteParams::default()).await.unwrap();
        let went = next().await;

        assert!(matches!(&first[1], watcher::Event::InitApply(o) if o.name_any() == "before"));
        assert!(matches!(&first[2], watcher::Event::InitDone));
        assert!(matches!(came, watcher::Event::Apply(o) if o.name_any() == "after"));
        assert!(matches!(went, watcher::Event::Delete(o) if o.name_any() == "after"));
    }
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
