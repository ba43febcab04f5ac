//! Answers that are slow, repeated, or not what they say.

use std::time::Duration;

use serde_json::Value;
use simulators::trouble::{Kind, Rule};

use super::{SYSTEMS, applied, call, phases};
use crate::world::{TENANT, World, json, send, status};

#[tokio::test]
async fn a_malformed_answer_is_a_success_that_cannot_be_read() {
    let world = World::new().await;

    for system in SYSTEMS {
        world.trouble(Rule::next(1, Kind::Malformed { body: None }).of(system));
        let answer = send(call(&world, system, 1)).await;
        assert_eq!(answer.status(), 200);
        assert!(answer.json::<Value>().await.is_err(), "{system}");

        let null = Kind::Malformed { body: Some("{\"data\":null}".into()) };
        world.trouble(Rule::next(1, null).of(system));
        assert_eq!(json(call(&world, system, 2)).await, serde_json::json!({ "data": null }));
    }
}

#[tokio::test]
async fn a_phantom_success_changes_nothing() {
    let world = World::new().await;
    world.trouble(Rule::next(2, Kind::Phantom));

    let id = world.registered("ghost").await;
    let token = json(world.ask_for_token()).await;

    assert!(token["access_token"].is_string());
    assert_eq!(world.runtime(&id).await, Value::Null);
    assert_eq!(applied(&world), 0);
    assert_ne!(world.registered("ghost").await, id);
}

#[tokio::test]
async fn a_duplicate_is_delivered_twice_and_answered_once() {
    let world = World::new().await;
    let id = world.registered("twice").await;
    world.trouble(Rule::next(2, Kind::Duplicate));

    let query = "mutation ($id: ID!) { result: setRuntimeLabel(runtimeID: $id, key: \"a\", \
                 value: 1) { key value } }";
    let variables = serde_json::json!({ "id": id });
    let answer = json(world.graphql(TENANT, query, &variables)).await;
    let token = status(world.ask_for_token()).await;

    assert_eq!(answer["data"]["result"]["value"], 1);
    assert_eq!(token, 200);
    assert_eq!(applied(&world), 1 + 2);
    assert_eq!(phases(&world, "issuer").len(), 2 * 2);
}

#[tokio::test]
async fn a_slow_system_answers_when_its_delay_is_over_and_not_before() {
    let world = World::new().await;
    for system in SYSTEMS {
        world.trouble(Rule::next(1, Kind::Slow { delay_ms: 5_000 }).of(system));
        let before = world.clock.now();
        let waiting = tokio::spawn(call(&world, system, 1).send());

        while !waiting.is_finished() {
            world.clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }

        assert_eq!(waiting.await.unwrap().unwrap().status(), 200);
        assert!(world.clock.now().duration_since(before).as_secs() >= 5, "{system}");
    }
}

#[tokio::test]
async fn an_uneven_system_takes_its_time_within_its_bounds() {
    let world = World::new().await;
    let before = world.clock.now();
    world.trouble(Rule::next(1, Kind::Uneven { from_ms: 1_000, to_ms: 3_000 }));
    let waiting = tokio::spawn(world.ask_for_token().send());

    while !waiting.is_finished() {
        world.clock.advance(Duration::from_millis(100));
        tokio::task::yield_now().await;
    }

    assert_eq!(waiting.await.unwrap().unwrap().status(), 200);
    assert!(world.clock.now().duration_since(before).as_millis() >= 1_000);
}

#[tokio::test]
async fn a_mistyped_answer_is_whole_but_says_it_is_something_else() {
    let world = World::new().await;
    for system in SYSTEMS {
        world.trouble(Rule::next(1, Kind::Mistyped { media: "text/html".into() }).of(system));

        let answer = send(call(&world, system, 1)).await;

        assert_eq!(answer.headers()["content-type"], "text/html");
        assert!(answer.json::<Value>().await.is_ok());
    }
}
