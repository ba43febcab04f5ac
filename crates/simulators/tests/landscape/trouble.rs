//! Every kind of trouble, on every system.

use std::time::Duration;

use reqwest::RequestBuilder;
use serde_json::Value;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use crate::world::{TENANT, World, json, send, status};

const SYSTEMS: [&str; 2] = ["issuer", "director"];

/// An ordinary call of a system.
fn call(world: &World, system: &str, number: usize) -> RequestBuilder {
    match system {
        "issuer" => world.ask_for_token(),
        _ => world.register(&format!("runtime-{number}")),
    }
}

fn phases(world: &World, system: &str) -> Vec<Phase> {
    let filter = Filter { system: Some(system.into()), ..Filter::default() };
    world.landscape.ledger().all(&filter).unwrap().iter().map(|entry| entry.phase).collect()
}

fn applied(world: &World) -> usize {
    let filter = Filter { phase: Some(Phase::Applied), ..Filter::default() };
    world.landscape.ledger().all(&filter).unwrap().len()
}

#[tokio::test]
async fn statuses_come_as_ordered_and_nothing_is_applied() {
    let world = World::new().await;
    let later = || Kind::Busy { retry_after_seconds: 30, as_date: false };
    let table = [
        (Kind::Down { refuse: false }, 503),
        (Kind::Status { status: 500, body: None }, 500),
        (Kind::Status { status: 502, body: Some("{\"data\":null}".into()) }, 502),
        (Kind::Status { status: 504, body: None }, 504),
        (later(), 429),
    ];

    for system in SYSTEMS {
        for (number, (kind, expected)) in table.iter().enumerate() {
            world.trouble(Rule::next(1, kind.clone()).of(system));
            assert_eq!(status(call(&world, system, number)).await, *expected, "{system} {kind:?}");
        }
        assert_eq!(status(call(&world, system, 99)).await, 200, "{system} after the trouble");
    }

    assert_eq!(applied(&world), 1, "only the last call of the director changes anything");
}

#[tokio::test]
async fn too_many_requests_says_when_to_come_back_as_a_number_or_a_date() {
    let world = World::new().await;

    for system in SYSTEMS {
        for (as_date, expected) in [(false, "30"), (true, "Thu, 01 Jan 2026 12:00:30 GMT")] {
            world.trouble(Rule::next(1, Kind::Busy { retry_after_seconds: 30, as_date }));
            let answer = send(call(&world, system, 1)).await;

            assert_eq!(answer.status(), 429);
            assert_eq!(answer.headers()["retry-after"], expected, "{system}");
        }
    }
}

#[tokio::test]
async fn cut_connections_give_no_answer_and_are_entered_as_lost() {
    let kinds = [
        Kind::Down { refuse: true },
        Kind::Reset { when: Cut::BeforeHeaders },
        Kind::Reset { when: Cut::AfterHeaders },
        Kind::Reset { when: Cut::InBody },
        Kind::LostAnswer { status: None },
        Kind::Truncated,
    ];

    for system in SYSTEMS {
        let world = World::new().await;
        for (number, kind) in kinds.iter().enumerate() {
            world.trouble(Rule::next(1, kind.clone()).of(system));
            let answer = match call(&world, system, number).send().await {
                Ok(answer) => answer.bytes().await.map(drop),
                Err(error) => Err(error),
            };

            assert!(answer.is_err(), "{system} {kind:?}");
            assert_eq!(phases(&world, system).last(), Some(&Phase::Lost), "{system} {kind:?}");
        }
        assert_eq!(status(call(&world, system, 99)).await, 200);
    }
}

#[tokio::test]
async fn a_lost_answer_is_applied_and_the_next_try_finds_it() {
    let world = World::new().await;
    for told in [None, Some(500)] {
        let name = format!("lost-{}", told.unwrap_or_default());
        world.trouble(Rule::next(1, Kind::LostAnswer { status: told }).of("director"));

        let first = world.register(&name).send().await;
        let second = json(world.register(&name)).await;

        assert_eq!(first.ok().map(|answer| answer.status().as_u16()), told);
        assert_eq!(second["errors"][0]["extensions"]["error_code"], 21);
    }
    assert_eq!(applied(&world), 2);
}

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

#[tokio::test]
async fn the_same_seed_and_the_same_calls_meet_the_same_trouble() {
    let mut seen = Vec::new();
    for seed in [7, 7, 8] {
        let world = World::seeded(seed).await;
        let kind = Kind::Status { status: 500, body: None };
        world.trouble(Rule::next(1_000, kind).for_a_share(0.5));
        let mut pattern = Vec::new();
        for _ in 0..40 {
            pattern.push(status(world.ask_for_token()).await);
        }
        assert!(pattern.contains(&500) && pattern.contains(&200));
        seen.push(pattern);
    }

    assert_eq!(seen[0], seen[1]);
    assert_ne!(seen[0], seen[2]);
}

#[tokio::test]
async fn trouble_keeps_to_its_route_and_ends_in_time() {
    let world = World::new().await;
    let mut rule = Rule::next(1, Kind::Down { refuse: false }).on("post", "/director");
    rule.calls = None;
    rule.until = Some(world.clock.now() + Duration::from_secs(60));
    world.trouble(rule);

    assert_eq!(status(world.ask_for_token()).await, 200);
    assert_eq!(status(world.register("a")).await, 503);
    assert_eq!(status(world.register("a")).await, 503);

    world.clock.advance(Duration::from_secs(60));
    assert_eq!(status(world.register("a")).await, 200);
}
