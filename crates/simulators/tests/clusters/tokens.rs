//! The connector: a one-time token is good once, for a while, for its runtime and tenant.

use std::time::Duration;

use base::Clock;
use serde_json::{Value, json};
use simulators::{
    ledger::{Filter, Phase},
    pace::Speed,
};

use crate::world::{TENANT, World};

const EXCHANGE: &str = "mutation ($id: ID!, $tenant: String!) \
    { result: exchangeToken(runtimeID: $id, tenant: $tenant) { token } }";

async fn exchange(world: &World, id: &str, tenant: &str, token: &str, key: Option<&str>) -> Value {
    let request = world
        .http
        .post(format!("{}/connector/graphql", world.running.url))
        .header("connector-token", token)
        .json(&json!({"query": EXCHANGE, "variables": {"id": id, "tenant": tenant}}));
    let request =
        key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
    request.send().await.unwrap().json().await.unwrap()
}

fn refused(answer: &Value, why: &str) {
    let error = &answer["errors"][0];
    assert_eq!(error["extensions"]["error_code"], 26, "{answer}");
    assert!(error["message"].as_str().unwrap().contains(why), "{answer}");
}

#[tokio::test]
async fn a_token_is_good_once_for_its_runtime_and_tenant() {
    let world = World::new().await;
    let (one, other) = (world.registered("one").await, world.registered("other").await);
    let (token, _) = world.one_time_token(&one).await;

    refused(&exchange(&world, &other, TENANT, &token, None).await, "not known");
    refused(&exchange(&world, &one, "ga-2", &token, None).await, "not known");
    refused(&exchange(&world, &one, TENANT, "made-up", None).await, "not known");
    let given = exchange(&world, &one, TENANT, &token, None).await;
    refused(&exchange(&world, &one, TENANT, &token, None).await, "used before");

    assert!(given["data"]["result"]["token"].is_string(), "{given}");
    let filter = Filter { phase: Some(Phase::Applied), ..Filter::default() };
    let lines = world.running.landscape.ledger().all(&filter).unwrap();
    let last = lines.last().unwrap();
    assert_eq!(last.object, Some(format!("exchangeToken runtime/{one}")));
    assert!(!serde_json::to_string(&lines).unwrap().contains(&token), "tokens stay out of it");
}

#[tokio::test]
async fn the_same_exchange_may_be_repeated_also_after_a_restart() {
    let world = World::new().await;
    let id = world.registered("one").await;
    let (token, _) = world.one_time_token(&id).await;
    exchange(&world, &id, TENANT, &token, Some("mine")).await;

    let world = world.reopened().await;
    let again = exchange(&world, &id, TENANT, &token, Some("mine")).await;

    assert!(again["data"]["result"]["token"].is_string(), "{again}");
    refused(&exchange(&world, &id, TENANT, &token, Some("other")).await, "used before");
}

#[tokio::test]
async fn a_token_expires() {
    let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
    let world = World::at(clock, Speed::MAX).await;
    let id = world.registered("one").await;
    let (token, _) = world.one_time_token(&id).await;

    world.clock.advance(Duration::from_mins(15));

    refused(&exchange(&world, &id, TENANT, &token, None).await, "expired");
}
