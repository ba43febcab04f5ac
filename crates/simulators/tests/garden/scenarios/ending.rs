//! Scenarios of Shoots that end or sleep, and the scenario of those to come.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use serde_json::json;
use simulators::{
    garden::{SCENARIO, SCENARIO_DEFAULTS},
    pace::Speed,
};

use super::{FAST, heal};
use crate::support::{Garden, last, scripted, shoot, state};

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
