//! The one watch of all Shoots, which everybody who waits shares.

use clients::gardener::{Gardener, Signal, Signals};
use serde_json::{Value, json};

use super::{at, garden};
use crate::kube_api::KubeApi;

async fn watching(api: &KubeApi) -> (Gardener, Signals) {
    let garden = garden(api).await;
    let mut signals = garden.signals();
    // The first list is done: from here on changes are told one by one.
    assert_eq!(signals.next().await, Some(Signal::Any));
    watched(api).await;
    (garden, signals)
}

async fn watched(api: &KubeApi) {
    while api.watchers() == 0 {
        tokio::task::yield_now().await;
    }
}

fn typed() -> Value {
    json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot"})
}

#[tokio::test]
async fn one_watch_tells_everyone_what_changed() {
    let api = KubeApi::default();
    let (garden, first) = watching(&api).await;
    let mut listeners = [first, garden.signals(), garden.clone().signals()];

    api.put(&at("c-1"), typed());
    api.remove(&at("c-1"));

    for listener in &mut listeners {
        assert_eq!(listener.next().await, Some(Signal::Shoot("c-1".into())));
        assert_eq!(listener.next().await, Some(Signal::Shoot("c-1".into())));
    }
    let watches = api.journal.all().into_iter().filter(|heard| heard.query.contains("watch=true"));
    assert_eq!(watches.count(), 1);
}

#[tokio::test]
async fn a_watch_that_was_cut_begins_again() {
    let api = KubeApi::default();
    let (_garden, mut signals) = watching(&api).await;

    api.cut_watches();
    watched(&api).await;
    api.put(&at("c-2"), typed());

    assert_eq!(signals.next().await, Some(Signal::Shoot("c-2".into())));
}

#[tokio::test]
async fn a_gap_in_the_watch_is_told_as_any() {
    let api = KubeApi::default();
    let (_garden, mut signals) = watching(&api).await;

    api.expire_watches();

    assert_eq!(signals.next().await, Some(Signal::Any));
}

#[tokio::test]
async fn a_watch_ends_with_its_last_client() {
    let api = KubeApi::default();
    let (garden, mut signals) = watching(&api).await;

    drop(garden);

    assert_eq!(signals.next().await, None);
}
