//! A Kyma that is deleted, and a controller that is killed or reset.

use base::Clock;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::DeleteParams;
use serde_json::json;
use simulators::{
    lifecycle_manager::{self},
    pace::Speed,
};

use super::{give_kubeconfig, gone, in_state, kymas, make};
use crate::world::{World, namespaced, until};

#[tokio::test]
async fn a_deleted_kyma_goes_and_a_stuck_one_does_when_the_scenario_ends() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    for name in ["goes", "stays"] {
        give_kubeconfig(&client, name, &format!("kubeconfig-{name}")).await;
        let api = make(&client, name).await;
        in_state(&api, name, "Ready").await;
    }
    let api = kymas(&client, "v1beta2");
    let stuck = json!({"name": "stays", "scenario": "stuck-delete"});
    assert_eq!(world.order("control-plane", "scenario", &stuck).await, 204);

    api.delete("goes", &DeleteParams::default()).await.unwrap();
    gone(&api, "goes").await;
    api.delete("stays", &DeleteParams::default()).await.unwrap();
    in_state(&api, "stays", "Deleting").await;
    let free = json!({"name": "stays", "scenario": ""});
    assert_eq!(world.order("control-plane", "scenario", &free).await, 204);

    gone(&api, "stays").await;
}

#[tokio::test]
async fn a_controller_that_was_killed_carries_on() {
    let world = World::at(Clock::running(), Speed::Times(0.01)).await;
    let client = world.client("kcp").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Processing").await;

    let world = world.reopened().await;

    let api = kymas(&world.client("kcp").await, "v1beta2");
    in_state(&api, "k", "Ready").await;
}

#[tokio::test]
async fn a_reset_takes_everything_but_the_templates() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Ready").await;

    let reset = world.control("POST", "/systems/control-plane/reset").send().await.unwrap();
    gone(&api, "k").await;

    assert_eq!(reset.status(), 204);
    let maps = namespaced::<ConfigMap>(&client, "kcp-system");
    let templates = until(&maps, lifecycle_manager::TEMPLATES, |_: &ConfigMap| true).await;
    let labels = templates.metadata.labels.unwrap();
    assert_eq!(labels["keb-config"], "true");
    assert!(templates.data.unwrap()["default"].contains("kyma-template"));
}
