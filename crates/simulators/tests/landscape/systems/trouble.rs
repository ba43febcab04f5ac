//! S5: every kind of trouble, on every system.

use reqwest::Response;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use super::ordinary::{SYSTEMS, making, objects};
use crate::world::{World, send, status};

fn applied(world: &World, system: &str) -> usize {
    let of = Some(system.to_owned());
    let filter = Filter { system: of, phase: Some(Phase::Applied), ..Filter::default() };
    world.landscape.ledger().all(&filter).unwrap().len()
}

async fn meeting(world: &World, system: &str, number: usize, kind: Kind) -> Option<Response> {
    world.trouble(Rule::next(1, kind).of(system));
    making(world, system, number).send().await.ok()
}

#[tokio::test]
async fn statuses_come_as_ordered_and_nothing_is_applied() {
    let world = World::new().await;
    let table = [
        (Kind::Down { refuse: false }, 503),
        (Kind::Status { status: 500, body: None }, 500),
        (Kind::Status { status: 502, body: None }, 502),
        (Kind::Status { status: 401, body: Some("{}".into()) }, 401),
        (Kind::Busy { retry_after_seconds: 30, as_date: false }, 429),
    ];

    for system in SYSTEMS {
        for (number, (kind, expected)) in table.iter().enumerate() {
            let answer = meeting(&world, system, number, kind.clone()).await.unwrap();
            assert_eq!(answer.status(), *expected, "{system} {kind:?}");
        }
        assert_eq!(applied(&world, system), 0);
        assert_eq!(status(making(&world, system, 9)).await, 201, "{system} after the trouble");
        assert_eq!(applied(&world, system), 1);
    }
}

#[tokio::test]
async fn cut_connections_give_no_whole_answer() {
    let world = World::new().await;
    let applying = [Kind::LostAnswer { status: None }, Kind::Reset { when: Cut::AfterHeaders }];
    let refusing = [Kind::Down { refuse: true }, Kind::Reset { when: Cut::BeforeHeaders }];

    for system in SYSTEMS {
        for (number, kind) in applying.iter().chain(&refusing).enumerate() {
            let answer = meeting(&world, system, number, kind.clone()).await;
            // An answer without a body is whole when its headers are.
            let empty = |answer: &Response| answer.content_length() == Some(0);
            if let Some(answer) = answer.filter(|answer| !empty(answer)) {
                assert!(answer.bytes().await.is_err(), "{system} {kind:?}");
            }
        }
        assert_eq!(applied(&world, system), 2, "{system}");
    }
}

#[tokio::test]
async fn an_error_may_come_although_the_call_was_applied() {
    let world = World::new().await;

    for system in SYSTEMS {
        let kind = Kind::LostAnswer { status: Some(500) };
        assert_eq!(meeting(&world, system, 1, kind).await.unwrap().status(), 500);
        assert_eq!(applied(&world, system), 1, "{system}");
    }
}

#[tokio::test]
async fn a_phantom_success_changes_nothing() {
    let world = World::new().await;

    for system in SYSTEMS {
        assert_eq!(meeting(&world, system, 1, Kind::Phantom).await.unwrap().status(), 201);
        assert_eq!(objects(&world, system).await.len(), 0, "{system}");
    }
}

#[tokio::test]
async fn a_duplicate_makes_two_where_two_may_be() {
    let world = World::new().await;

    for (system, made) in SYSTEMS.into_iter().zip([2, 1, 1, 2, 1]) {
        meeting(&world, system, 1, Kind::Duplicate).await.unwrap();
        assert_eq!(applied(&world, system), made, "{system}");
    }
}

#[tokio::test]
async fn a_malformed_answer_is_a_success_that_cannot_be_read() {
    let world = World::new().await;

    for system in SYSTEMS {
        let answer = meeting(&world, system, 1, Kind::Malformed { body: None }).await.unwrap();
        assert_eq!(answer.status(), 201);
        assert!(answer.json::<serde_json::Value>().await.is_err(), "{system}");
        assert_eq!(applied(&world, system), 1);
    }
}

#[tokio::test]
async fn a_slow_system_answers_when_its_delay_is_over() {
    let world = World::new().await;

    for system in SYSTEMS {
        let before = world.clock.now();
        world.trouble(Rule::next(1, Kind::Slow { delay_ms: 61_000 }).of(system));
        let waiting = tokio::spawn(making(&world, system, 1).send());
        while !waiting.is_finished() {
            world.clock.advance(std::time::Duration::from_secs(1));
            tokio::task::yield_now().await;
        }

        assert_eq!(waiting.await.unwrap().unwrap().status(), 201);
        assert!(world.clock.now().duration_since(before).as_secs() >= 61, "{system}");
    }
}

#[tokio::test]
async fn a_truncated_answer_ends_too_early() {
    let world = World::new().await;

    for system in ["avs", "lms"] {
        world.trouble(Rule::next(1, Kind::Truncated).of(system));
        let answer = send(making(&world, system, 1)).await;
        assert!(answer.bytes().await.is_err(), "{system}");
    }
}
