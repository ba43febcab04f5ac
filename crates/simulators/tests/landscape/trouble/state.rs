//! Trouble with what a system stores and whom it lets in: partial writes, stale reads, ended tokens.

use std::time::Duration;

use serde_json::Value;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Kind, Rule},
};

use super::applied;
use crate::world::{TENANT, World, json, status};

#[tokio::test]
async fn a_partial_write_makes_the_first_changes_only() {
    let world = World::new().await;
    let three = "mutation { a: registerRuntime(in: {name: \"one\"}) { id } \
                 b: registerRuntime(in: {name: \"two\"}) { id } \
                 c: registerRuntime(in: {name: \"three\"}) { id } }";
    world.trouble(Rule::next(1, Kind::Partial { changes: 2, status: Some(502) }).of("director"));

    let told = status(world.graphql(TENANT, three, &Value::Null)).await;

    assert_eq!(told, 502);
    assert_eq!(applied(&world), 2);
    let objects = world.landscape.ledger().all(&Filter::default()).unwrap();
    assert_eq!(objects.iter().filter(|entry| entry.phase == Phase::Applied).count(), 2);
    world.registered("three").await;
}

#[tokio::test]
async fn a_stale_read_answers_what_was_there_before() {
    let world = World::new().await;
    let id = world.registered("old").await;
    assert_eq!(world.runtime(&id).await["name"], "old");
    world.clock.advance(Duration::from_secs(10));
    let rename =
        "mutation ($id: ID!) { result: updateRuntime(id: $id, in: {name: \"new\"}) { id } }";
    json(world.graphql(TENANT, rename, &serde_json::json!({ "id": id }))).await;

    let now = world.runtime(&id).await;
    world.trouble(Rule::next(2, Kind::StaleRead { seconds: 5 }).of("director"));
    let five_seconds_ago = world.runtime(&id).await;
    world.clock.advance(Duration::from_secs(10));
    let five_seconds_ago_now = world.runtime(&id).await;

    assert_eq!(now["name"], "new");
    assert_eq!(five_seconds_ago["name"], "old");
    assert_eq!(five_seconds_ago_now["name"], "new");
}

#[tokio::test]
async fn a_stale_read_opens_no_door_that_is_closed() {
    let world = World::new().await;
    let id = world.registered("a").await;
    world.runtime(&id).await;
    world.trouble(Rule::next(1, Kind::StaleRead { seconds: 5 }).of("director"));

    let query = "query ($id: ID!) { result: runtime(id: $id) \
                 { id name description labels status { condition } } }";
    let body = serde_json::json!({ "query": query, "variables": { "id": id } });
    let request = world.post("/director/graphql").header("tenant", TENANT).json(&body);

    assert_eq!(status(request).await, 401);
}

#[tokio::test]
async fn tokens_end_in_the_middle_of_a_sequence() {
    let world = World::new().await;
    world.trouble(Rule::next(1, Kind::TokenExpire).of("director").from_call(2));

    let statuses = [
        status(world.register("a")).await,
        status(world.register("b")).await,
        status(world.register("c")).await,
    ];

    assert_eq!(statuses, [200, 401, 401]);
    assert_eq!(status(world.ask_for_token()).await, 200);
}

#[tokio::test]
async fn an_unguarded_system_asks_nobody_who_they_are() {
    let world = World::new().await;
    world.trouble(Rule::next(1, Kind::Unguarded).of("director"));
    let nobody = || {
        let query = "mutation { result: registerRuntime(in: {name: \"a\"}) { id } }";
        let body = serde_json::json!({ "query": query });
        world.post("/director/graphql").header("tenant", TENANT).json(&body)
    };

    let answer = json(nobody()).await;

    assert!(answer["data"]["result"]["id"].is_string(), "{answer}");
    assert_eq!(status(nobody()).await, 401);
}
