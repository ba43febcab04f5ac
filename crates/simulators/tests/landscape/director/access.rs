//! Who may ask the Director, for which tenant, and when its agent connects.

use std::time::Duration;

use serde_json::{Value, json};

use super::{DASHBOARD, READ, REGISTER, UNREGISTER, UPDATE, ask, code};
use crate::world::{TENANT, World, json, send, status};

#[tokio::test]
async fn tokens_and_their_scopes_are_checked() {
    let world = World::new().await;
    let issuer = world.landscape.issuer();
    let reader = issuer.claims("machine", "machine", &["runtime:read".to_owned()], &[]);
    let reader = issuer.sign(&reader).unwrap();
    let query = json!({ "query": REGISTER });
    let with = |token: &str| {
        world.post("/director/graphql").header("Tenant", TENANT).bearer_auth(token).json(&query)
    };

    let none = send(world.post("/director/graphql").header("tenant", TENANT).json(&query)).await;
    let wrong = status(with("no.such.token")).await;
    let scope = json(with(&reader)).await;
    world.clock.advance(Duration::from_hours(2));
    let expired = status(with(&world.token)).await;

    assert_eq!((none.status().as_u16(), wrong, expired), (401, 401, 401));
    assert_eq!(code(&none.json().await.unwrap()), 26);
    assert_eq!(code(&scope), 23);
}

#[tokio::test]
async fn tenants_do_not_see_each_other() {
    let world = World::new().await;
    let id = world.registered("mine").await;
    let read = READ.replace("<id>", &id);

    let theirs = json(world.graphql("ga-2", &read, &Value::Null)).await;
    let gone = json(world.graphql("ga-2", &UNREGISTER.replace("<id>", &id), &Value::Null)).await;
    let same_name = json(world.graphql("ga-2", REGISTER, &Value::Null)).await;
    let listed = json(world.graphql("ga-2", "{ result: runtimes { totalCount } }", &Value::Null));

    assert_eq!(theirs["data"]["result"], Value::Null);
    assert_eq!(code(&gone), 20);
    assert!(same_name["data"]["result"]["id"].is_string());
    assert_eq!(listed.await["data"]["result"]["totalCount"], 1);
}

#[tokio::test]
async fn a_runtime_connects_when_its_time_has_come_unless_somebody_else_plays_the_agent() {
    for plays in [true, false] {
        let world = World::new().await;
        let switch = world.control("POST", "/systems/director/orders/play-agent");
        assert_eq!(status(switch.json(&json!({ "on": plays }))).await, 204);
        let id = world.registered("my-runtime").await;
        ask(&world, UPDATE, &id).await;
        let early = ask(&world, DASHBOARD, &id).await["data"]["result"].clone();

        world.clock.advance(Duration::from_secs(60));
        let late = ask(&world, DASHBOARD, &id).await["data"]["result"].clone();

        assert_eq!(early["labels"], Value::Null);
        assert_eq!(early["status"]["condition"], "PROVISIONING");
        let console = json!({ "runtime_consoleUrl": "https://console.c-1.example.com" });
        assert_eq!(late["labels"], if plays { console } else { Value::Null });
        let condition = if plays { "CONNECTED" } else { "PROVISIONING" };
        assert_eq!(late["status"]["condition"], condition);
    }
}
