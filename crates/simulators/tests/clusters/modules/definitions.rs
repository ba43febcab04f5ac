//! The definition of Kymas: what it forbids, its earlier versions, and where it can be installed.

use base::Clock;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;
use simulators::{
    lifecycle_manager::{self, Controller},
    pace::{Pace, Speed},
};

use super::{give_kubeconfig, in_state, kyma, kymas, make, usual};
use crate::{
    elsewhere::ForeignServer,
    world::{World, code, ensure_namespace},
};

#[tokio::test]
async fn what_its_definition_forbids_is_refused() {
    let world = World::new().await;
    let api = kymas(&world.client("kcp").await, "v1beta2");
    let wrong = [
        json!({}),
        json!({"channel": "Fast"}),
        json!({"channel": "ab"}),
        json!({"channel": "fast", "modules": [{}]}),
        json!({"channel": "fast", "modules": [{"name": "a"}, {"name": "a"}]}),
        json!({"channel": "fast", "modules": [{"name": "a", "channel": "1"}]}),
        json!({"channel": "fast", "modules": [{"name": "a", "customResourcePolicy": "No"}]}),
    ];

    for spec in wrong {
        let refused = api.create(&PostParams::default(), &kyma("k", &spec)).await;
        assert_eq!(refused.map_err(code).unwrap_err(), 422, "{spec}");
    }
    let made = api.create(&PostParams::default(), &kyma("k", &usual())).await.unwrap();
    assert_eq!(made.data["spec"]["modules"][0]["customResourcePolicy"], "CreateAndDelete");
    assert_eq!(made.data["spec"]["modules"][0]["managed"], true);
}

#[tokio::test]
async fn earlier_versions_of_the_kind_see_the_same_objects() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    make(&client, "k").await;

    for version in ["v1alpha1", "v1beta1"] {
        assert!(kymas(&client, version).get_opt("k").await.unwrap().is_some(), "{version}");
    }
    let old = kymas(&client, "v1alpha1");
    old.delete("k", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn it_works_on_any_api_server_with_the_definition() {
    let place = ForeignServer::with(&lifecycle_manager::definitions()).await;
    let client = place.client.clone();
    ensure_namespace(&client, "kcp-system").await;
    let name = format!("k{:08x}", fastrand::u32(..));
    give_kubeconfig(&client, &name, &format!("kubeconfig-{name}")).await;

    let settings = lifecycle_manager::Settings::default();
    let (clock, pace) = (Clock::running(), Pace::new(Speed::MAX));
    let controller = Controller::start(client.clone(), settings, clock, pace);
    let api = make(&client, &name).await;

    in_state(&api, &name, "Ready").await;
    controller.stop().await;
    place.stop().await;
}
