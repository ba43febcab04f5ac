//! Operations of a round in the Reconciler, and who may see them.

use std::time::Duration;

use serde_json::json;

use super::{apply, get, history::rounds};
use crate::world::{World, json, status};

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
