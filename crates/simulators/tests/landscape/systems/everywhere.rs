//! What holds for each of the four: kept over a kill, and the same from the same seed.

mod trouble;

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use super::{aws, azure, cis, reconciler::apply};
use crate::world::{World, json, status};

const SYSTEMS: [&str; 4] = ["reconciler", "cis", "azure", "aws"];

/// A call of each system that works and changes something, where callers can.
async fn call(world: &World, system: &str) -> RequestBuilder {
    match system {
        "reconciler" => apply(world, "r-1"),
        "cis" => cis::get(world, "/events/v2/events/central"),
        "azure" => {
            let path = "/subscriptions/sub-1/resourcegroups/g?api-version=2019-05-01";
            let token = azure::token(world).await;
            azure::call(world, "PUT", path, &token).json(&json!({"location": "west"}))
        }
        _ => aws::call(world, "eu-west-1", &[("Action", "DeleteVolume"), ("VolumeId", "vol-1")]),
    }
}

async fn prepared() -> World {
    let world = World::new().await;
    let orders = [
        ("cis", "create-subaccount", json!({"id": "sa"})),
        ("aws", "add-volume", json!({"key": "AKIA", "id": "vol-1", "region": "eu-west-1"})),
    ];
    for (system, order, with) in orders {
        let order = world.control("POST", &format!("/systems/{system}/orders/{order}"));
        assert_eq!(status(order.json(&with)).await, 204);
    }
    world
}

async fn objects(world: &World, system: &str) -> Value {
    json(world.control("GET", &format!("/systems/{system}/objects"))).await
}

#[tokio::test]
async fn every_system_is_listed_and_forgets_on_request() {
    let world = prepared().await;
    for system in SYSTEMS {
        assert_eq!(status(call(&world, system).await).await, 200 + u16::from(system == "azure"));
        let shown = json(world.control("GET", &format!("/systems/{system}"))).await;
        assert_eq!(
            (&shown["health"], &shown["base"]),
            (&json!("up"), &json!(format!("/{system}")))
        );
        assert!(
            !objects(&world, system).await["objects"].as_array().unwrap().is_empty(),
            "{system}"
        );

        assert_eq!(status(world.control("POST", &format!("/systems/{system}/reset"))).await, 204);

        assert_eq!(objects(&world, system).await, json!({"objects": []}), "{system}");
        let unknown = world.control("POST", &format!("/systems/{system}/orders/dance"));
        assert_eq!(status(unknown.json(&json!({}))).await, 404);
    }
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_kill() {
    let world = prepared().await;
    let mut before = Vec::new();
    for system in SYSTEMS {
        json_or_xml(call(&world, system).await).await;
        before.push(objects(&world, system).await);
    }

    let world = world.reopened().await;

    for (system, before) in SYSTEMS.into_iter().zip(before) {
        assert_eq!(objects(&world, system).await, before, "{system}");
    }
}

async fn json_or_xml(request: RequestBuilder) -> String {
    request.send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_same_calls_leave_the_same_things() {
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let world = prepared().await;
        let mut kept = Vec::new();
        for system in SYSTEMS {
            json_or_xml(call(&world, system).await).await;
            world.clock.advance(std::time::Duration::from_secs(1));
            kept.push(objects(&world, system).await);
        }
        let rounds = world.http.get(format!("{}/reconciler/v1/reconciliations", world.url));
        kept.push(json(rounds).await);
        worlds.push(kept);
    }

    assert_eq!(worlds[0], worlds[1]);
}
