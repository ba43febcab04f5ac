//! Tokens that end in the middle of a sequence: one renewal for all callers (C4).

use std::time::Duration;

use base::Clock;
use clients::{Kind, director::Director};
use futures::future::join_all;
use simulators::trouble::{self, Rule};

use crate::world::{TENANT, World};

const CALLERS: usize = 20;

#[tokio::test]
async fn a_token_that_runs_out_is_renewed_once_for_all_callers() {
    let world = World::new().await;
    let director = world.director();
    director.runtime(TENANT, "r").await.unwrap();

    // Of the hour that it lives, half a minute is left.
    world.clock.advance(Duration::from_secs(3_600 - 29));
    let reads = join_all((0..CALLERS).map(|_| director.runtime(TENANT, "r"))).await;

    assert!(reads.iter().all(Result::is_ok));
    assert_eq!(world.received("issuer"), 2);
    assert_eq!(world.received("director"), 1 + CALLERS as u64);
}

#[tokio::test]
async fn a_token_that_is_ended_early_is_renewed_once_for_all_callers() {
    let world = World::at(Clock::running()).await;
    let http = world.http(World::limits()).with_token(world.tokens());
    let director = Director::new(http.renewing_refused_tokens());
    director.runtime(TENANT, "r").await.unwrap();
    world.running.landscape.issuer().expire_tokens().unwrap();

    // Spread out, so that some are refused with the old token after others have the new one.
    let uneven = trouble::Kind::Uneven { from_ms: 1, to_ms: 300 };
    world.troubles().add(Rule::next(CALLERS as u64, uneven).of("director")).unwrap();
    let reads = join_all((0..CALLERS).map(|_| director.runtime(TENANT, "r"))).await;

    assert!(reads.iter().all(Result::is_ok), "{reads:?}");
    assert_eq!(world.received("issuer"), 2);
    assert_eq!(world.received("director"), 1 + 2 * CALLERS as u64);
}

#[tokio::test]
async fn without_renewing_one_try_is_lost_and_the_next_one_has_a_new_token() {
    let world = World::new().await;
    let director = world.director();
    let ending = Rule::next(1, trouble::Kind::TokenExpire).of("director").from_call(2);
    world.troubles().add(ending).unwrap();

    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(director.runtime(TENANT, "r").await.err().map(|error| error.kind));
    }

    assert_eq!(kinds, [None, Some(Kind::Unauthorized), None]);
    assert_eq!(world.received("issuer"), 2);
}

#[tokio::test]
async fn an_issuer_that_is_down_is_asked_once_for_all_callers() {
    let world = World::new().await;
    let director = world.director();
    let down = Rule::next(1, trouble::Kind::Down { refuse: false }).of("issuer");
    world.troubles().add(down).unwrap();

    let reads = join_all((0..CALLERS).map(|_| director.runtime(TENANT, "r"))).await;

    assert!(reads.iter().all(|read| read.as_ref().is_err_and(|error| {
        error.kind == Kind::Unavailable && error.component == clients::Component::ISSUER
    })));
    assert_eq!((world.received("issuer"), world.received("director")), (1, 0));
    assert!(director.runtime(TENANT, "r").await.is_ok());
}
