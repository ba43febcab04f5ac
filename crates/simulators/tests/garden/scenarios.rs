//! Scenarios of Shoots whose creation fails.

mod ending;
mod late;

use serde_json::json;
use simulators::{garden::SCENARIO, pace::Speed};

use crate::support::{Garden, health, is_settled, last, scripted, shoot, state};

const FAST: Speed = Speed::Times(500.0);

fn heal() -> serde_json::Value {
    json!({"metadata": {"annotations": {SCENARIO: null}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_final_failure_stays_until_somebody_asks_for_a_retry() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    garden.create(&scripted("broken", "fail=ERR_INFRA_QUOTA_EXCEEDED@40")).await;

    let failed = garden.until("broken", |s| state(s) == "Failed").await;
    let unhealthy = garden.until("broken", |s| health(s) == "unhealthy").await;
    garden.patch("broken", heal()).await.unwrap();
    let retry = json!({"metadata": {"annotations": {"gardener.cloud/operation": "retry"}}});
    garden.patch("broken", retry).await.unwrap();
    let healed = garden.until_healthy("broken").await;

    assert_eq!(last(&failed), Some(("Create".into(), "Failed".into(), 40)));
    assert_eq!(failed["status"]["lastErrors"][0]["codes"], json!(["ERR_INFRA_QUOTA_EXCEEDED"]));
    assert_eq!(state(&unhealthy), "Failed");
    assert!(healed["status"]["lastErrors"].is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_is_retried_is_an_error_and_the_operation_recovers() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    let begin = garden.version().await;
    let scenario = "error-then-recover=ERR_INFRA_RATE_LIMITS_EXCEEDED@40";

    garden.create(&scripted("shaky", scenario)).await;
    let events = garden.events(begin, |_, shoot| is_settled(shoot)).await;

    let errors: Vec<_> = events.iter().filter(|(_, shoot)| state(shoot) == "Error").collect();
    let description = errors[0].1["status"]["lastOperation"]["description"].as_str().unwrap();
    assert!(description.ends_with("Operation will be retried."), "{description}");
    let (_, end) = events.last().unwrap();
    // It never succeeded before, so it is still being created.
    assert_eq!(last(end), Some(("Create".into(), "Succeeded".into(), 100)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_made_is_tried_again() {
    let garden = Garden::anywhere(FAST).await;
    garden.runtimes.break_down(true);
    let _controller = garden.controller();

    garden.create(&shoot("full")).await;
    let failed = garden.until("full", |s| state(s) == "Error").await;
    garden.runtimes.break_down(false);
    garden.until_healthy("full").await;

    let why = failed["status"]["lastErrors"][0]["description"].as_str().unwrap();
    assert!(why.contains("the seed is full"), "{why}");
    assert_eq!(garden.runtimes.made("full"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_without_a_seed_waits_for_one() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    garden.create(&scripted("lost", "no-seed")).await;

    let pending = garden.until("lost", |s| state(s) == "Pending").await;
    garden.patch("lost", heal()).await.unwrap();
    garden.until_healthy("lost").await;

    let description = pending["status"]["lastOperation"]["description"].as_str().unwrap();
    assert!(description.starts_with("Failed to schedule Shoot: "), "{description}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_selector_that_no_seed_fits_leaves_a_shoot_pending() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    let mut picky = shoot("picky");
    picky.data["spec"]["seedSelector"] =
        json!({"matchLabels": {"seed.gardener.cloud/region": "nowhere"}});
    garden.create(&picky).await;

    garden.until("picky", |s| state(s) == "Pending").await;
    let near = json!({"matchLabels": {"seed.gardener.cloud/region": "us-east-1"}});
    garden.patch("picky", json!({"spec": {"seedSelector": near}})).await.unwrap();
    let ready = garden.until_healthy("picky").await;

    assert_eq!(ready["spec"]["seedName"], "aws-ha-us1");
}
