//! Where a watch begins and ends: old versions, labels, bookmarks, and the watcher of kube.

use std::time::Duration;

use base::Clock;
use futures::{StreamExt, TryStreamExt};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams, WatchParams},
    runtime::watcher,
};
use serde_json::json;

use super::told;
use crate::support::{catalog, start, start_with, thing};

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
