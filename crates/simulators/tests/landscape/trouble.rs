//! Every kind of trouble, on every system: statuses, cut connections, lost answers.

mod answers;
mod rules;
mod state;

use reqwest::RequestBuilder;
use simulators::{
    ledger::{Filter, Phase},
    trouble::{Cut, Kind, Rule},
};

use crate::world::{World, json, status};

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
