//! Shoots in other states: asleep, reset, in a scenario, upgraded.

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams, PostParams},
    runtime::wait::{await_condition, conditions::is_deleted},
};
use serde_json::json;

use super::{made, opened, ready, shoot, shoots};
use crate::world::{World, code, until};

#[tokio::test]
async fn a_hibernated_runtime_cannot_be_reached_until_it_wakes() {
    let world = World::new().await;
    let (garden, shoots) = made(&world, "abc").await;
    let runtime = opened(&garden, "abc").await;
    let all: Api<Namespace> = Api::all(runtime);
    let hibernate =
        |enabled: bool| Patch::Merge(json!({"spec": {"hibernation": {"enabled": enabled}}}));

    shoots.patch("abc", &PatchParams::default(), &hibernate(true)).await.unwrap();
    ready(&shoots, "abc", true).await;
    let asleep = all.list(&ListParams::default()).await.map_err(code);
    shoots.patch("abc", &PatchParams::default(), &hibernate(false)).await.unwrap();
    ready(&shoots, "abc", false).await;
    let awake = all.list(&ListParams::default()).await.map_err(code);

    assert_eq!(asleep.unwrap_err(), 503);
    assert!(awake.is_ok());
}

#[tokio::test]
async fn reset_takes_shoots_and_their_runtimes_away() {
    let world = World::new().await;
    let (_, shoots) = made(&world, "abc").await;
    let uid = shoots.get("abc").await.unwrap().metadata.uid.unwrap();

    let reset = world.control("POST", "/systems/gardener/reset").send().await.unwrap();

    assert_eq!(reset.status(), 204);
    await_condition(shoots, "abc", is_deleted(&uid)).await.unwrap();
}

#[tokio::test]
async fn a_scenario_can_be_ordered_for_all_shoots_to_come() {
    let world = World::new().await;
    let scenario = json!({"scenario": "fail=ERR_INFRA_QUOTA_EXCEEDED@40"});
    assert_eq!(world.order("gardener", "scenario", &scenario).await, 204);
    let shoots = shoots(&world.client("garden").await);

    shoots.create(&PostParams::default(), &shoot("bad")).await.unwrap();

    let failed = until(&shoots, "bad", |found| {
        found.data["status"]["lastErrors"][0]["codes"][0] == "ERR_INFRA_QUOTA_EXCEEDED"
    })
    .await;
    assert_ne!(failed.data["status"]["lastOperation"]["state"], "Succeeded");
}

#[tokio::test]
async fn a_runtime_has_the_kubernetes_version_of_its_shoot_and_follows_upgrades() {
    let world = World::new().await;
    let (garden, shoots) = made(&world, "abc").await;
    let runtime = opened(&garden, "abc").await;
    let upgrade = Patch::Merge(json!({"spec": {"kubernetes": {"version": "1.26.7"}}}));

    let before = runtime.apiserver_version().await.unwrap();
    shoots.patch("abc", &PatchParams::default(), &upgrade).await.unwrap();
    ready(&shoots, "abc", false).await;
    let after = runtime.apiserver_version().await.unwrap();

    assert_eq!((before.minor.as_str(), before.git_version.as_str()), ("25", "v1.25.6"));
    assert_eq!((after.minor.as_str(), after.git_version.as_str()), ("26", "v1.26.7"));
}
