//! Which calls meet trouble: by body, by number, by time, and how it is asked for over HTTP.

use std::time::Duration;

use serde_json::json;
use simulators::trouble::{Kind, Rule};

use crate::world::{World, json as json_of, status};

fn broken() -> Kind {
    Kind::Status { status: 500, body: None }
}

#[tokio::test]
async fn a_rule_can_ask_for_a_text_in_the_body() {
    let world = World::new().await;
    world.trouble(Rule::next(1, broken()).of("director").holding("\"name\":\"two\""));

    let statuses = [
        status(world.register("one")).await,
        status(world.register("two")).await,
        status(world.register("two")).await,
    ];

    assert_eq!(statuses, [200, 500, 200]);
}

#[tokio::test]
async fn a_rule_can_ask_for_the_step_that_calls() {
    let world = World::new().await;
    let asked = json!({
        "system": "director", "step": "Two", "calls": 1,
        "trouble": { "kind": "status", "status": 500 },
    });
    json_of(world.control("POST", "/troubles").json(&asked)).await;

    let from = |step: &str| status(world.register("any").header("x-kcp-step", step));
    let nobody = status(world.register("any")).await;
    let statuses = [nobody, from("One").await, from("Two").await, from("Two").await];

    assert_eq!(statuses, [200, 200, 500, 200]);
}

#[tokio::test]
async fn a_rule_can_wait_for_the_nth_call_also_over_a_restart() {
    let world = World::new().await;
    world.trouble(Rule::next(2, broken()).of("issuer").from_call(3));
    let first = status(world.ask_for_token()).await;

    let world = world.reopened().await;
    let mut statuses = vec![first];
    for _ in 0..4 {
        statuses.push(status(world.ask_for_token()).await);
    }

    assert_eq!(statuses, [200, 200, 500, 500, 200]);
}

#[tokio::test]
async fn a_rule_that_waits_does_not_hide_another_one() {
    let world = World::new().await;
    world.trouble(Rule::next(1, broken()).from_call(2));
    world.trouble(Rule::next(1, Kind::Down { refuse: false }));

    let statuses = [status(world.ask_for_token()).await, status(world.ask_for_token()).await];

    assert_eq!(statuses, [503, 500]);
}

#[tokio::test]
async fn flapping_trouble_comes_and_goes() {
    let world = World::new().await;
    let until = world.clock.now() + Duration::from_secs(100);
    world.trouble(Rule::until(until, broken()).flapping(Duration::from_secs(10)));

    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(status(world.ask_for_token()).await);
        world.clock.advance(Duration::from_secs(6));
    }

    // At 0, 6, 12, 18 and 24 seconds.
    assert_eq!(statuses, [500, 500, 200, 200, 500]);
}

#[tokio::test]
async fn trouble_that_is_asked_for_over_http_begins_and_ends_in_time() {
    let world = World::new().await;
    let asked = json!({
        "system": "issuer", "method": "post", "path": "/oauth2/tok*$", "body": "client_credentials",
        "after_seconds": 10, "seconds": 10, "trouble": { "kind": "down" },
    });

    let made = json_of(world.control("POST", "/troubles").json(&asked)).await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(status(world.ask_for_token()).await);
        world.clock.advance(Duration::from_secs(10));
    }

    assert_eq!(made["from"], "2026-01-01T12:00:10Z");
    assert_eq!(made["until"], "2026-01-01T12:00:20Z");
    assert_eq!(statuses, [200, 503, 200]);
}

#[tokio::test]
async fn the_nth_call_alone_is_an_end() {
    let world = World::new().await;
    let asked = json!({ "nth": 2, "trouble": { "kind": "token-expire" } });

    let made = json_of(world.control("POST", "/troubles").json(&asked)).await;

    assert_eq!((&made["nth"], &made["calls"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let world = World::new().await;
    let slow = json!({ "kind": "slow", "delay_ms": 1 });
    let table = [
        json!({ "trouble": slow }),
        json!({ "nth": 0, "trouble": slow }),
        json!({ "calls": 1, "flap_ms": 0, "trouble": slow }),
        json!({ "seconds": 0, "after_seconds": 5, "trouble": slow }),
        json!({ "calls": 1, "trouble": { "kind": "uneven", "from_ms": 2, "to_ms": 1 } }),
        json!({ "calls": 1, "trouble": { "kind": "partial", "changes": 1, "status": 200 } }),
    ];

    for asked in table {
        let refused = status(world.control("POST", "/troubles").json(&asked)).await;
        assert_eq!(refused, 400, "{asked}");
    }
}
