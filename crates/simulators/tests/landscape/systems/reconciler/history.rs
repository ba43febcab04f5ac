//! What the Reconciler remembers: rounds and configurations of before.

use std::time::Duration;

use serde_json::{Value, json};

use super::{apply, get, payload};
use crate::world::{World, json, status};

#[tokio::test]
async fn an_hour_of_reconciling_takes_no_time_and_leaves_a_history() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;

    world.clock.advance(Duration::from_hours(1));

    assert_eq!(json(get(&world, "/clusters/r-1/status")).await["status"], "reconciling");
    world.clock.advance(Duration::from_secs(10));
    let changes = json(get(&world, "/clusters/r-1/statusChanges")).await;
    let words: Vec<&str> = changes["statusChanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["status"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["reconcile_pending", "reconciling", "ready", "reconciling", "ready"]);
    let first = &changes["statusChanges"][0];
    assert_eq!(first["duration"], 1_000_000_000_u64);
}

#[tokio::test]
async fn configurations_that_were_replaced_keep_their_last_status() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(10));
    let mut newer = payload(&world, "r-1");
    newer["kymaConfig"]["version"] = "2.11".into();

    assert_eq!(json(get(&world, "/clusters/r-1/status")).await["status"], "ready");
    json(world.post("/reconciler/v1/clusters").json(&newer)).await;

    assert_eq!(json(get(&world, "/clusters/r-1/configs/1/status")).await["status"], "ready");
    let latest = json(get(&world, "/clusters/r-1/configs/2/status")).await;
    assert_eq!(latest["status"], "reconcile_pending");
}

#[tokio::test]
async fn a_round_is_given_up_after_many_failures() {
    let world = World::new().await;
    let order = world.control("POST", "/systems/reconciler/orders/fail-rounds");
    assert_eq!(status(order.json(&json!({"id": "r-1"}))).await, 204);
    json(apply(&world, "r-1")).await;

    world.clock.advance(Duration::from_hours(1));

    let answer = json(get(&world, "/clusters/r-1/status")).await;
    assert_eq!(
        (&answer["status"], &answer["failures"][0]["component"]),
        (&json!("error"), &json!("istio"))
    );
}

pub(super) async fn rounds(world: &World) -> Value {
    json(get(world, "/reconciliations")).await
}

#[tokio::test]
async fn rounds_are_listed_by_when_they_began() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(60));
    json(apply(&world, "r-2")).await;
    world.clock.advance(Duration::from_secs(60));
    let runtimes = async |query: &str| {
        let listed = json(get(&world, &format!("/reconciliations?{query}"))).await;
        let rounds = listed.as_array().unwrap().clone();
        rounds.iter().map(|round| round["runtimeID"].as_str().unwrap().to_owned()).collect()
    };
    let between: [(&str, Vec<String>); 4] = [
        ("after=2026-01-01T12:00:30Z", vec!["r-2".into()]),
        ("before=2026-01-01T12:00:30Z", vec!["r-1".into()]),
        (
            "after=2026-01-01T11:00:00Z&before=2026-01-01T13:00:00Z",
            vec!["r-2".into(), "r-1".into()],
        ),
        ("after=&before=2025-01-01T00:00:00Z", vec![]),
    ];

    for (query, expected) in between {
        let found: Vec<String> = runtimes(query).await;
        assert_eq!(found, expected, "{query}");
    }
    assert_eq!(status(get(&world, "/reconciliations?after=yesterday")).await, 400);
}
