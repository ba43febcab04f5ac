//! The ledger: gap-free, searchable, streamed, and there after a restart.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::Value;
use simulators::ledger::{Entry, Filter, Phase};

use crate::world::{World, json, send};

async fn pages(world: &World, query: &str, limit: usize) -> Vec<Entry> {
    let (mut entries, mut after) = (Vec::new(), 0);
    loop {
        let path = format!("/ledger?after={after}&limit={limit}{query}");
        let page = json(world.control("GET", &path)).await;
        let some: Vec<Entry> = serde_json::from_value(page["entries"].clone()).unwrap();
        entries.extend(some);
        after = page["next"].as_u64().unwrap();
        if page["more"] == false {
            return entries;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_calls_at_once_leave_no_gap() {
    let world = World::new().await;

    let names: Vec<String> = (0..200).map(|number| format!("r-{number}")).collect();
    let mut ids = join_all(names.iter().map(|name| world.registered(name))).await;
    ids.sort();
    ids.dedup();
    let entries = pages(&world, "", 97).await;

    assert_eq!(ids.len(), 200);
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, (1..=600).collect::<Vec<_>>());
    let mut calls: BTreeMap<u64, Vec<Phase>> = BTreeMap::new();
    for entry in &entries {
        calls.entry(entry.call).or_default().push(entry.phase);
    }
    let whole = [Phase::Received, Phase::Applied, Phase::Replied];
    assert_eq!(calls.len(), 200);
    assert!(calls.values().all(|phases| *phases == whole));
}

#[tokio::test]
async fn entries_name_the_caller_and_are_found_by_key_and_operation() {
    let world = World::new().await;
    let caller = [
        ("idempotency-key", "root/Register/1"),
        ("x-kcp-operation", "op-1"),
        ("x-kcp-step", "Register"),
        ("x-kcp-run", "3"),
        ("x-kcp-epoch", "2"),
        ("x-kcp-replica", "rep-1"),
    ];
    let request = caller
        .iter()
        .fold(world.register("mine"), |request, (name, value)| request.header(*name, *value));
    let id = json(request).await["data"]["result"]["id"].as_str().unwrap().to_owned();
    world.registered("other").await;

    let by_key = pages(&world, "&key=root/Register/1", 10).await;
    let by_operation = pages(&world, "&operation=op-1&phase=applied&system=director", 10).await;

    assert_eq!(by_key.len(), 3);
    assert_eq!(by_operation.len(), 1);
    let entry = &by_operation[0];
    assert_eq!(entry.about.step.as_deref(), Some("Register"));
    assert_eq!((entry.about.run, entry.about.epoch), (Some(3), Some(2)));
    assert_eq!(entry.about.replica.as_deref(), Some("rep-1"));
    assert_eq!(entry.about.route, "/director/graphql");
    assert_eq!(entry.object, Some(format!("registerRuntime runtime/{id}")));
    assert_eq!(by_key[2].status, Some(200));
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_entered() {
    let world = World::new().await;

    let refused = world.post("/director/graphql").body(vec![b' '; 5 << 20]).send().await;

    let entries = world.landscape.ledger().all(&Filter::default()).unwrap();
    let phases: Vec<Phase> = entries.iter().map(|entry| entry.phase).collect();
    assert_eq!(phases, [Phase::Received, Phase::Replied]);
    assert_eq!(entries[1].status, Some(413));
    // Whether the answer is read before the rest of the body fails to be sent is a race.
    assert!(refused.is_err() || refused.is_ok_and(|answer| answer.status() == 413));
}

#[tokio::test]
async fn the_stream_begins_where_it_is_asked_to_and_goes_on_with_what_happens() {
    let world = World::new().await;
    world.registered("before").await;
    let mut stream = send(world.control("GET", "/ledger/stream?after=2")).await;
    world.registered("meanwhile").await;

    let mut text = String::new();
    while text.matches("\n\n").count() < 4 {
        text.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    let entries: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();

    let sequences: Vec<u64> =
        entries.iter().take(4).map(|entry| entry["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, [3, 4, 5, 6]);
    assert!(text.starts_with("id: 3\nevent: entry\n"), "{text}");
}

#[tokio::test]
async fn the_sequence_goes_on_after_a_restart() {
    let world = World::new().await;
    world.registered("one").await;

    let world = world.reopened().await;
    world.registered("two").await;

    let entries = world.landscape.ledger().all(&Filter::default()).unwrap();
    let sequences: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 5, 6]);
    assert_eq!(world.landscape.ledger().sums("director").applied, 2);
}
