//! The Reconciler: what it answers and what it refuses.

mod history;
mod operations;
mod reading;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::world::{World, json, status};

/// Where kubeconfigs lead in these tests.
const SHOOT: &str = "c-1";

pub(crate) fn payload(world: &World, id: &str) -> Value {
    let kubeconfig = world.kubeconfig(SHOOT);
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
        "metadata": {"shootName": SHOOT},
        "kubeconfig": format!("{kubeconfig}# s3cret-kubeconfig\n"),
    })
}

pub(crate) fn apply(world: &World, id: &str) -> RequestBuilder {
    world.post("/reconciler/v1/clusters").json(&payload(world, id))
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
        let mut body = payload(&world, "r-1");
        body.as_object_mut().unwrap().remove(field);
        body
    };
    let mut large = payload(&world, "r-1");
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
