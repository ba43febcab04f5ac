//! Rules of trouble: the same for the same seed, on their route, within their time.

use std::time::Duration;

use simulators::trouble::{Kind, Rule};

use super::{SYSTEMS, call};
use crate::world::{World, send, status};

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
