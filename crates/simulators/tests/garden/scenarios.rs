//! Scenarios of Shoots.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use serde_json::json;
use simulators::{
    garden::{SCENARIO, SCENARIO_DEFAULTS},
    pace::Speed,
};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_can_be_stuck_and_come_free() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let _controller = garden.controller();
    garden.create(&scripted("stuck", "stuck-delete")).await;
    garden.until_healthy("stuck").await;

    garden.delete("stuck").await;
    let stuck = garden.until("stuck", |s| state(s) == "Error").await;
    let there = garden.runtimes.is_there("stuck");
    garden.patch("stuck", heal()).await.unwrap();
    garden.until_gone("stuck").await;

    assert_eq!(stuck["status"]["lastErrors"][0]["codes"], json!(["ERR_CLEANUP_CLUSTER_RESOURCES"]));
    assert!(there && !garden.runtimes.is_there("stuck"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_can_disappear_half_way() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&scripted("ghost", "disappear@50")).await;
    let events = garden.events(begin, |what, _| what == "DELETED").await;

    assert!(events.iter().all(|(_, shoot)| state(shoot) != "Succeeded"));
    assert!(events.iter().any(|(_, shoot)| last(shoot).is_some_and(|(.., p)| p == 45)));
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_flap() {
    let garden = Garden::anywhere(Speed::MAX).await;
    let _controller = garden.controller();
    garden.create(&scripted("flap", "flapping")).await;

    garden.until("flap", |s| health(s) == "healthy").await;
    let down = garden.until("flap", |s| health(s) == "unhealthy").await;
    garden.until("flap", |s| health(s) == "healthy").await;

    let failing: Vec<_> = down["status"]["conditions"].as_array().unwrap().iter().collect();
    assert_eq!(failing.iter().filter(|one| one["status"] == "False").count(), 1);
    assert_eq!(state(&down), "Succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_can_come_late() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&scripted("late", "kubeconfig-late")).await;
    let announced = |shoot: &serde_json::Value| !shoot["status"]["advertisedAddresses"].is_null();
    let events = garden.events(begin, |_, shoot| announced(shoot)).await;

    let (_, end) = events.last().unwrap();
    assert_eq!(state(end), "Succeeded");
    assert!(garden.runtimes.is_there("late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_can_come_late() {
    let garden = Garden::anywhere(FAST).await;
    let _controller = garden.controller();

    let made = garden.create(&scripted("nameless", "domain-late")).await;
    let ready = garden.until_healthy("nameless").await;

    assert!(made.data["spec"]["dns"]["domain"].is_null());
    let expected = format!("nameless.{}.kyma.example.com", garden.settings.project);
    assert_eq!(ready["spec"]["dns"]["domain"], expected);
    let url = ready["status"]["advertisedAddresses"][0]["url"].as_str().unwrap();
    assert_eq!(url, format!("https://api.{expected}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_shoots_take_longer_than_others() {
    let garden = Garden::anywhere(Speed::Times(40.0)).await;
    let _controller = garden.controller();
    let begin = garden.version().await;

    garden.create(&scripted("tortoise", "slow")).await;
    garden.create(&shoot("hare")).await;
    let mut ready = Vec::new();
    garden
        .events(begin, |_, shoot| {
            let name = shoot["metadata"]["name"].as_str().unwrap().to_owned();
            if is_settled(shoot) && !ready.contains(&name) {
                ready.push(name);
            }
            ready.len() == 2
        })
        .await;

    assert_eq!(ready, ["hare", "tortoise"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hibernation_is_refused_where_it_is_impossible() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let _controller = garden.controller();
    garden.create(&scripted("awake", "hibernation-impossible")).await;
    let ready = garden.until_healthy("awake").await;

    let sleep = json!({"spec": {"hibernation": {"enabled": true}}});
    let (code, message) = crate::support::refusal(garden.patch("awake", sleep.clone()).await);
    garden.patch("awake", heal()).await.unwrap();
    garden.until("awake", |s| s["status"]["constraints"][0]["status"] == "True").await;
    garden.patch("awake", sleep).await.unwrap();

    assert_eq!(ready["status"]["constraints"][0]["status"], "False");
    assert_eq!(code, 403);
    assert!(message.contains("'HibernationPossible' constraint is 'False'"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_to_come_get_the_default_scenario_unless_they_have_their_own() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let maps: Api<ConfigMap> = Api::namespaced(garden.client.clone(), &garden.settings.namespace());
    let defaults = serde_json::from_value(json!({
        "metadata": {"name": SCENARIO_DEFAULTS}, "data": {"shoots": "no-seed"},
    }));
    garden.create(&shoot("before")).await;
    maps.create(&PostParams::default(), &defaults.unwrap()).await.unwrap();

    let after = garden.create(&shoot("after")).await;
    let own = garden.create(&scripted("own", "slow")).await;

    let scenario = |shoot: &kube::api::DynamicObject| {
        shoot.metadata.annotations.as_ref().and_then(|all| all.get(SCENARIO).cloned())
    };
    assert_eq!(scenario(&garden.shoots.get("before").await.unwrap()), None);
    assert_eq!(scenario(&after).as_deref(), Some("no-seed"));
    assert_eq!(scenario(&own).as_deref(), Some("slow"));
}
