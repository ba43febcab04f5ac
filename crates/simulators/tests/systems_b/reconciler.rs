//! The Reconciler: what it refuses and what it remembers.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::world::{World, json, status};

pub(crate) fn payload(id: &str) -> Value {
    json!({
        "runtimeID": id,
        "runtimeInput": {"name": "n", "description": ""},
        "kymaConfig": {
            "version": "2.10", "profile": "Production", "administrators": [],
            "components": [{
                "component": "istio", "namespace": "istio-system",
                "configuration": [{"key": "token", "value": "s3cret-value", "secret": true}],
            }],
        },
        "metadata": {"shootName": "c-1"},
        "kubeconfig": "clusters: [] users: [] s3cret-kubeconfig",
    })
}

pub(crate) fn apply(world: &World, id: &str) -> RequestBuilder {
    world.post("/reconciler/v1/clusters").json(&payload(id))
}

fn get(world: &World, path: &str) -> RequestBuilder {
    world.http.get(format!("{}/reconciler/v1{path}", world.url))
}

#[tokio::test]
async fn an_answer_looks_like_the_documented_one() {
    let world = World::new().await;

    let answer = json(apply(&world, "r-1")).await;

    let url = format!("{}/reconciler/v1/clusters/r-1/configs/1/status", world.url);
    assert_eq!(
        answer,
        json!({
            "cluster": "r-1", "clusterVersion": 1, "configurationVersion": 1,
            "status": "reconcile_pending", "failures": [], "statusURL": url,
        })
    );
    assert_eq!(json(world.http.get(url)).await, answer);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let world = World::new().await;
    let post = |body: Value| world.post("/reconciler/v1/clusters").json(&body);
    let without = |field: &str| {
        let mut body = payload("r-1");
        body.as_object_mut().unwrap().remove(field);
        body
    };
    let mut large = payload("r-1");
    large["runtimeInput"]["name"] = "x".repeat(100_000).into();

    for body in [without("runtimeID"), without("kymaConfig"), without("kubeconfig"), large] {
        let answer = post(body).send().await.unwrap();
        assert_eq!(answer.status(), 400);
        let answer: Value = answer.json().await.unwrap();
        assert!(answer["error"].is_string(), "{answer}");
    }
    assert_eq!(status(world.post("/reconciler/v1/clusters").body("{")).await, 400);
    assert_eq!(status(get(&world, "/clusters/r-1/status")).await, 404);
    assert_eq!(status(get(&world, "/clusters/r-1/configs/1/status")).await, 404);
    assert_eq!(
        status(world.http.delete(format!("{}/reconciler/v1/clusters/r-1", world.url))).await,
        404
    );
    assert_eq!(status(get(&world, "/clusters/r-1/statusChanges/24h")).await, 404);
    assert_eq!(status(get(&world, "/clusters/state")).await, 400);
    json(apply(&world, "r-1")).await;
    assert_eq!(status(get(&world, "/clusters/r-1/configs/one/status")).await, 400);
    assert_eq!(status(get(&world, "/clusters/r-1/statusChanges?offset=soon")).await, 400);
    let force = world.http.put(format!("{}/reconciler/v1/clusters/r-1/status", world.url));
    assert_eq!(status(force.json(&json!({"status": "resting"}))).await, 400);
}

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
    let mut newer = payload("r-1");
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
