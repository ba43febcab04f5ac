//! The Reconciler: what it refuses and what it remembers.

use std::time::Duration;

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

async fn rounds(world: &World) -> Value {
    json(get(world, "/reconciliations")).await
}

#[tokio::test]
async fn null_is_read_as_empty() {
    let world = World::new().await;
    let mut sent = payload(&world, "r-1");
    sent["kymaConfig"]["administrators"] = Value::Null;
    sent["kymaConfig"]["components"][0]["configuration"] = Value::Null;
    sent["kymaConfig"]["components"][0]["URL"] = Value::Null;

    json(world.post("/reconciler/v1/clusters").json(&sent)).await;

    let kept = json(get(&world, "/clusters/r-1/config/1")).await;
    assert_eq!(kept["administrators"], json!([]));
    assert_eq!(kept["components"][0]["configuration"], json!([]));
}

#[tokio::test]
async fn empty_query_parameters_count_as_absent() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(10));
    let scheduling = rounds(&world).await[0]["schedulingID"].as_str().unwrap().to_owned();

    for query in [
        "correlationID=&runtimeID=r-1&schedulingID=".to_owned(),
        format!("correlationID=&runtimeID=&schedulingID={scheduling}"),
        format!("correlationID={scheduling}--0&runtimeID=&schedulingID="),
    ] {
        let state = json(get(&world, &format!("/clusters/state?{query}"))).await;
        assert_eq!(state["cluster"]["runtimeID"], "r-1", "{query}");
    }
    let all = json(get(&world, "/reconciliations?runtimeID=&status=&last=")).await;
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    assert_eq!(status(get(&world, "/clusters/r-1/statusChanges?offset=")).await, 200);
    let none = get(&world, "/clusters/state?correlationID=&runtimeID=&schedulingID=");
    assert_eq!(status(none).await, 400);
}

#[tokio::test]
async fn operations_of_a_round_have_times_and_reasons_and_can_be_debugged() {
    let world = World::new().await;
    let order = world.control("POST", "/systems/reconciler/orders/fail");
    let reason = json!({"component": "istio", "reason": "no nodes left"});
    let failing = json!({"id": "r-1", "on": true, "failures": [reason]});
    assert_eq!(status(order.json(&failing)).await, 204);
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(10));

    let id = rounds(&world).await[0]["schedulingID"].as_str().unwrap().to_owned();
    let info = json(get(&world, &format!("/reconciliations/{id}/info"))).await;
    let debug = |operation: &str| {
        let path = format!("/reconciler/v1/operations/{id}/{operation}/debug");
        world.http.put(format!("{}{path}", world.url))
    };

    let operation = &info["operations"][0];
    assert_eq!(
        (&operation["state"], &operation["reason"]),
        (&json!("error"), &json!("no nodes left"))
    );
    assert_eq!(operation["created"], "2026-01-01T12:00:01Z");
    assert_eq!(operation["updated"], "2026-01-01T12:00:05Z");
    assert_eq!(status(debug(operation["correlationID"].as_str().unwrap())).await, 200);
    assert_eq!(status(debug("nothing")).await, 404);
}

#[tokio::test]
async fn an_operation_that_has_ended_is_not_stopped_and_its_state_is_told() {
    let world = World::new().await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(2));
    let id = rounds(&world).await[0]["schedulingID"].as_str().unwrap().to_owned();
    let stop = || {
        let path = format!("/reconciler/v1/operations/{id}/{id}--0/stop");
        world.http.post(format!("{}{path}", world.url)).json(&json!({"reason": "by hand"}))
    };
    let refusal = async || json(stop()).await["error"].as_str().unwrap().to_owned();

    assert_eq!(status(stop()).await, 403);
    assert!(refusal().await.contains("in status: in_progress"));
    world.clock.advance(Duration::from_secs(10));
    assert!(refusal().await.contains("in status: done"));
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

#[tokio::test]
async fn a_token_must_be_good_and_an_operators() {
    let world = World::new().await;
    let issuer = world.landscape.issuer();
    let token =
        |groups: &[String]| issuer.sign(&issuer.claims("kcp", "somebody", &[], groups)).unwrap();
    let list = || get(&world, "/reconciliations");

    assert_eq!(status(list()).await, 200);
    assert_eq!(status(list().bearer_auth("nonsense")).await, 401);
    assert_eq!(status(list().bearer_auth(token(&["runtimeAdmin".to_owned()]))).await, 403);
    assert_eq!(status(list().bearer_auth(token(&["runtimeOperator".to_owned()]))).await, 200);
}

#[tokio::test]
async fn no_two_systems_draw_the_same_ids() {
    let world = World::seeded(1).await;
    let runtime = world.registered("one").await;
    json(apply(&world, "r-1")).await;
    world.clock.advance(Duration::from_secs(10));

    assert_ne!(rounds(&world).await[0]["schedulingID"], runtime);
}
