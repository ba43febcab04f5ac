//! The clusters in the control API: what is shown, and the orders that are followed.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};

use crate::world::{World, code, map, namespaced};

#[tokio::test]
async fn clusters_are_systems_and_show_what_is_in_them() {
    let world = World::new().await;
    world.runtime("abc").await;
    let maps = namespaced::<ConfigMap>(&world.client("kcp").await, "kcp-system");
    maps.create(&PostParams::default(), &map("settings")).await.unwrap();

    let systems = world.control("GET", "/systems").send().await.unwrap();
    let systems: Value = systems.json().await.unwrap();

    let names: Vec<&str> = systems["systems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    for name in ["director", "kyma-releases", "gardener", "control-plane", "runtimes"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let runtimes = world.objects("runtimes").await;
    assert_eq!((&runtimes[0]["kind"], &runtimes[0]["id"]), (&json!("runtime"), &json!("abc")));
    let inside = world.objects("control-plane").await;
    assert!(inside.iter().any(|one| one["id"] == "kcp-system/settings"), "{inside:?}");
}

#[tokio::test]
async fn a_runtime_refuses_until_it_is_told_to_accept() {
    let world = World::new().await;
    let client = world.runtime("shy").await;
    let all: Api<Namespace> = Api::all(client);
    let id = json!({"id": "shy"});

    let closed = world.order("runtimes", "refuse", &id).await;
    let refused = all.list(&ListParams::default()).await.map_err(code);
    let world = world.reopened().await;
    let all: Api<Namespace> = Api::all(world.client("shy").await);
    let still = all.list(&ListParams::default()).await.map_err(code);
    world.order("runtimes", "accept", &id).await;
    let accepted = all.list(&ListParams::default()).await.map_err(code);

    assert_eq!(closed, 204);
    assert_eq!((refused.unwrap_err(), still.unwrap_err()), (0, 0), "there is no answer at all");
    assert!(accepted.is_ok());
}

#[tokio::test]
async fn orders_that_make_no_sense_are_refused() {
    let world = World::new().await;

    assert_eq!(world.order("runtimes", "refuse", &json!({"id": "nobody"})).await, 400);
    assert_eq!(world.order("runtimes", "refuse", &json!({"id": "garden"})).await, 400);
    assert_eq!(world.order("runtimes", "explode", &json!({})).await, 404);
    assert_eq!(
        world.order("gardener", "scenario", &json!({"name": "x", "scenario": "slow"})).await,
        400
    );
    assert_eq!(world.order("gardener", "scenario", &json!({"scenario": "slow"})).await, 204);
    let words =
        async |text: &str| world.order("gardener", "scenario", &json!({"scenario": text})).await;
    assert_eq!(words("").await, 204);
    assert_eq!(words("slow, fail=ERR_INFRA_QUOTA_EXCEEDED@40,disappear@70").await, 204);
    assert_eq!(words("slow,sloww").await, 400);
}

#[tokio::test]
async fn reset_makes_runtimes_new_and_empty() {
    let world = World::new().await;
    let maps = namespaced::<ConfigMap>(&world.runtime("worn").await, "default");
    maps.create(&PostParams::default(), &map("old")).await.unwrap();

    let reset = world.control("POST", "/systems/runtimes/reset").send().await.unwrap();

    assert_eq!(reset.status(), 204);
    let old = maps.get_opt("old").await.map_err(code);
    assert_eq!(old.unwrap_err(), 401, "what opened the old cluster does not open the new one");
    let maps = namespaced::<ConfigMap>(&world.client("worn").await, "default");
    assert!(maps.get_opt("old").await.unwrap().is_none());
}
