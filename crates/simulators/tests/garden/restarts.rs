//! A controller that is killed anywhere and started again ends where one does that never was.

use std::cell::Cell;

use serde_json::{Value, json};
use simulators::pace::Speed;

use crate::support::{Garden, health, is_settled, shoot, whole};

const QUICK: Speed = Speed::Times(200.0);

/// A Shoot without what differs from one to the next: times, versions and its own name.
fn end(mut shoot: Value) -> Value {
    let name = shoot["metadata"]["name"].as_str().unwrap().to_owned();
    let metadata = shoot["metadata"].as_object_mut().unwrap();
    for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        metadata.shift_remove(key);
    }
    shoot["status"].as_object_mut().unwrap().shift_remove("uid");
    forget_times(&mut shoot);
    // Drawn by the name.
    shoot["spec"]["maintenance"].as_object_mut().unwrap().shift_remove("timeWindow");
    serde_json::from_str(&shoot.to_string().replace(&name, "NAME")).unwrap()
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !key.ends_with("Time"));
            map.values_mut().for_each(forget_times);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_times),
        _ => {}
    }
}

fn is_ready(shoot: &Value) -> bool {
    is_settled(shoot) && health(shoot) == "healthy"
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_every_single_change_it_still_ends_the_same() {
    let garden = Garden::anywhere(QUICK).await;
    let mut controller = Some(garden.controller());
    garden.create(&shoot("calm")).await;
    let expected = end(garden.until_healthy("calm").await);

    let mut version = garden.version().await;
    garden.create(&shoot("hard")).await;
    let mut kills = 0;
    loop {
        let events = garden.events(version, |_, _| true).await;
        drop(controller.take());
        kills += 1;
        let (_, shoot) = events.last().unwrap();
        version = shoot["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        if is_ready(shoot) {
            break;
        }
        controller = Some(garden.controller());
    }
    let hard = end(whole(&garden.shoots.get("hard").await.unwrap()));

    assert!(kills > 10, "only {kills} kills");
    assert_eq!(hard, expected);
    assert_eq!(garden.runtimes.made("hard"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_it_still_creates_changes_and_deletes() {
    for seed in 1..=6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let garden =
            Garden::anywhere(if seed % 2 == 0 { Speed::Times(1_000.0) } else { Speed::MAX }).await;
        let begin = garden.version().await;
        garden.create(&shoot("random")).await;
        let kills = Cell::new(0);
        let killing = async {
            loop {
                let controller = garden.controller();
                // Lives get longer, until one is long enough for an API server that is slow.
                let longer = 1 << (kills.get() / 16).min(16);
                for _ in 0..u64::from(random.u32(0..3_000)) * longer {
                    tokio::task::yield_now().await;
                }
                kills.set(kills.get() + 1);
                // Half of them are not even waited for.
                if random.bool() { controller.stop().await } else { drop(controller) }
            }
        };
        let living = async {
            garden.until("random", is_ready).await;
            let change = json!({"spec": {"kubernetes": {"version": "1.26.0"}}});
            garden.patch("random", change).await.unwrap();
            garden.until("random", is_ready).await;
            assert!(garden.runtimes.is_there("random"), "seed {seed}");
            garden.delete("random").await;
            garden.events(begin, |what, _| what == "DELETED").await
        };

        let events = tokio::select! {
            () = killing => unreachable!("it kills for ever"),
            events = living => events,
        };

        println!("seed {seed}: {} kills", kills.get());
        assert!(kills.get() > 3, "seed {seed}: only {} kills", kills.get());
        assert_eq!(garden.runtimes.made("random"), 1, "seed {seed}");
        assert_eq!(garden.runtimes.count(), 0, "seed {seed}");
        let backwards = events.windows(2).any(|pair| went_back(&pair[0].1, &pair[1].1));
        assert!(!backwards, "seed {seed}: an operation went back");
    }
}

/// Whether progress was lost inside of one operation.
fn went_back(before: &Value, after: &Value) -> bool {
    let (before, after) = (crate::support::last(before), crate::support::last(after));
    match (before, after) {
        (Some((kind, state, percent)), Some((next_kind, _, next))) => {
            kind == next_kind && state == "Processing" && next < percent
        }
        _ => false,
    }
}
