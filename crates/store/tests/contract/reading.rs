//! Reads of operations.

use std::ops::Deref;

use engine::{OperationId, State, StepClock, Storage};
use store::engine::{Filter, OperationCount};

use crate::bench::{Bench, KIND, OnDatabase, new};

pub(crate) async fn a_snapshot_shows_what_was_committed<S: Storage>(
    bench: impl Deref<Target = Bench<S>>,
) {
    let replica = bench.join("r").await;
    let held = bench.held(replica, "i").await;
    bench.wait(1);
    let since = bench.clock.now();
    let mut commit = bench.sleeps(&held, 5, None);
    let clock = StepClock { failing_since: None, waiting_since: Some(since) };
    commit.position.clocks.insert("Check".into(), clock);
    bench.commit(replica, commit).await;

    let stored = bench.read(held.id).await;

    assert_eq!((stored.waiting_since, stored.failing_since), (Some(since), None));
    assert_eq!((stored.due_at, stored.held), (Some(bench.later(5)), false));
    assert_eq!((stored.owner, stored.epoch, stored.runs), (Some(replica), 1, 1));
    assert_eq!((stored.updated_at, stored.created_at), (since, held.created_at));
    assert_eq!((stored.note.as_deref(), stored.started_at), (Some("not yet"), Some(since)));
    assert_eq!(stored.input, b"input");
    bench.wait(5);
    assert_eq!(bench.claim(replica, 1).await[0].position.clock("Check"), clock);
}

pub(crate) async fn pages_follow_each_other_without_gaps(bench: OnDatabase) {
    let mut ids = Vec::new();
    for n in 0..25 {
        ids.push(bench.accept(&format!("i{n}")).await);
        if n % 2 == 0 {
            bench.wait(1);
        }
    }
    ids.push(bench.accept("i0").await);
    ids.reverse();

    let mut listed = Vec::new();
    let mut filter = Filter { most: 10, ..Filter::default() };
    loop {
        let page = bench.store.list(&filter).await.unwrap();
        assert!(page.operations.len() <= 10);
        listed.extend(page.operations.into_iter().map(|operation| operation.id));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }

    assert_eq!(listed, ids);
    let of_instance = Filter { instance: Some("i0".into()), most: 10, ..Filter::default() };
    assert_eq!(bench.store.list(&of_instance).await.unwrap().operations.len(), 2);
    let none = Filter { state: Some(State::Failed), most: 10, ..Filter::default() };
    assert!(bench.store.list(&none).await.unwrap().operations.is_empty());
    let other = Filter { kind: Some("other".into()), most: 10, ..Filter::default() };
    assert!(bench.store.list(&other).await.unwrap().operations.is_empty());
}

pub(crate) async fn unfinished_operations_are_counted(bench: OnDatabase) {
    let replica = bench.join("r").await;
    for n in 0..3 {
        bench.accept_new(new(&format!("i{n}"), "a")).await;
    }
    bench.accept("i0").await;
    let held = bench.claim(replica, 2).await;
    bench.commit(replica, bench.done(&held[0])).await;
    bench.commit(replica, bench.ends(&held[1], State::Succeeded)).await;

    let mut counted = bench.store.count().await.unwrap();
    counted.sort_by_key(|counted| counted.operations);

    let of = |state, operations| OperationCount { kind: KIND.into(), state, operations };
    assert_eq!(counted, [of(State::InProgress, 1), of(State::Pending, 2)]);
}

pub(crate) async fn the_newest_operations_of_each_instance_are_read_and_no_more(bench: OnDatabase) {
    let mut old = Vec::new();
    for _ in 0..5 {
        old.push(bench.accept("many").await);
        bench.wait(1);
    }
    let few = bench.accept("few").await;

    let instances = ["many", "few", "nobody", "many\0"];
    let found = bench.store.newest_of_instances(&instances, 3).await.unwrap();

    let mut found: Vec<_> = found.into_iter().map(|operation| operation.id).collect();
    found.sort_unstable();
    assert_eq!(found, [old[2], old[3], old[4], few]);
}

pub(crate) async fn a_history_is_of_instances_or_operations_and_with_both_of_what_fits_both(
    bench: OnDatabase,
) {
    let mut old = Vec::new();
    for _ in 0..3 {
        old.push(bench.accept("many").await);
        bench.wait(1);
    }
    let few = bench.accept("few").await;
    let chosen = async |instances: &[&str], ids: &[OperationId]| {
        let instances: Vec<String> = instances.iter().map(ToString::to_string).collect();
        let found = bench.store.chosen(&instances, ids).await.unwrap();
        found.into_iter().map(|operation| operation.id).collect::<Vec<_>>()
    };

    assert_eq!(chosen(&["many"], &[]).await, [old[2], old[1], old[0]], "newest first");
    assert_eq!(chosen(&["many", "few"], &[]).await, [few, old[2], old[1], old[0]]);
    assert_eq!(chosen(&["few", "many", "few"], &[]).await, [few, old[2], old[1], old[0]]);
    assert_eq!(chosen(&[], &[old[0], few, old[0]]).await, [few, old[0]]);
    assert_eq!(chosen(&["many"], &[old[0], few]).await, [old[0]]);
    assert!(chosen(&["nobody"], &[old[0], few]).await.is_empty());
    assert!(chosen(&["nobody"], &[]).await.is_empty());
    assert_eq!(chosen(&[], &[]).await, [few, old[2], old[1], old[0]], "the latest of all");
}
