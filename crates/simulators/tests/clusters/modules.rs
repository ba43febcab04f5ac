//! The Lifecycle Manager: a Kyma from its first sight to its end.

use base::Clock;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    },
    runtime::{conditions::is_deleted, wait::await_condition},
};
use serde_json::{Value, json};
use simulators::{
    lifecycle_manager::{self, Controller},
    pace::{Pace, Speed},
};

use crate::{
    elsewhere::ForeignServer,
    world::{World, code, ensure_namespace, namespaced, until},
};

fn kymas(client: &Client, version: &str) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("operator.kyma-project.io", version, "Kyma");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kymas");
    Api::namespaced_with(client.clone(), "kcp-system", &resource)
}

fn kyma(name: &str, spec: &Value) -> DynamicObject {
    let whole = json!({
        "apiVersion": "operator.kyma-project.io/v1beta2", "kind": "Kyma",
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(whole).unwrap()
}

fn usual() -> Value {
    json!({"channel": "regular", "modules": [{"name": "istio"}, {"name": "keda", "channel": "fast"}]})
}

async fn make(client: &Client, name: &str) -> Api<DynamicObject> {
    let api = kymas(client, "v1beta2");
    api.create(&PostParams::default(), &kyma(name, &usual())).await.unwrap();
    api
}

/// A kubeconfig for a cluster that the landscape does not have: it is believed.
const ELSEWHERE: &str = "
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://clusters.example.org'}}]
";

async fn give_kubeconfig(client: &Client, kyma: &str, secret: &str) {
    let labels = json!({"operator.kyma-project.io/kyma-name": kyma});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": secret, "labels": labels}, "stringData": {"config": ELSEWHERE},
    });
    let secret = serde_json::from_value(secret).unwrap();
    let secrets = namespaced::<Secret>(client, "kcp-system");
    secrets.create(&PostParams::default(), &secret).await.unwrap();
}

fn state(kyma: &DynamicObject) -> &str {
    kyma.data["status"]["state"].as_str().unwrap_or_default()
}

async fn in_state(api: &Api<DynamicObject>, name: &str, wanted: &str) -> DynamicObject {
    until(api, name, |kyma: &DynamicObject| state(kyma) == wanted).await
}

async fn gone(api: &Api<DynamicObject>, name: &str) {
    if let Some(found) = api.get_opt(name).await.unwrap() {
        let uid = found.metadata.uid.unwrap();
        await_condition(api.clone(), name, is_deleted(&uid)).await.unwrap();
    }
}

#[tokio::test]
async fn a_kyma_becomes_ready_with_its_modules_once_there_is_a_kubeconfig() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    let api = make(&client, "k").await;

    let without = in_state(&api, "k", "Error").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    let ready = in_state(&api, "k", "Ready").await;

    assert_eq!(without.data["status"]["lastOperation"]["operation"], "access secret not found");
    assert_eq!(ready.metadata.finalizers.unwrap(), ["operator.kyma-project.io/Kyma"]);
    let status = &ready.data["status"];
    assert_eq!(status["activeChannel"], "regular");
    let modules = status["modules"].as_array().unwrap();
    let channels: Vec<_> = modules.iter().map(|module| module["channel"].as_str()).collect();
    assert_eq!(channels, [Some("regular"), Some("fast")]);
    assert!(modules.iter().all(|module| module["state"] == "Ready"));
    let conditions = status["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 5);
    assert!(conditions.iter().all(|one| one["status"] == "True" && one["reason"] == "Ready"));
}

#[tokio::test]
async fn a_kyma_is_ready_only_when_its_kubeconfig_opens_the_cluster() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    world.runtime("inside").await;
    let clusters = world.running.clusters();
    let good = clusters.kubeconfig("inside").unwrap();
    let api = make(&client, "k").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    in_state(&api, "k", "Ready").await;
    let secrets = namespaced::<Secret>(&client, "kcp-system");
    let give = async |text: &str, channel: &str| {
        let change = json!({"stringData": {"config": text}});
        let by = PatchParams::default();
        secrets.patch("kubeconfig-k", &by, &Patch::Merge(&change)).await.unwrap();
        let other = json!({"spec": {"channel": channel}});
        api.patch("k", &by, &Patch::Merge(&other)).await.unwrap();
    };

    for wrong in [
        "no kubeconfig".to_owned(),
        good.replace("/inside", "/gone"),
        good.replace("token: ", "token: x"),
    ] {
        give(&wrong, "fast").await;
        in_state(&api, "k", "Error").await;
        give(&good, "regular").await;
        in_state(&api, "k", "Ready").await;
    }
}

#[tokio::test]
async fn other_modules_are_processed_and_two_kubeconfigs_are_an_error() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    give_kubeconfig(&client, "k", "kubeconfig-k").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Ready").await;

    let other = json!({"spec": {"channel": "fast", "modules": [{"name": "istio"}]}});
    api.patch("k", &PatchParams::default(), &Patch::Merge(&other)).await.unwrap();
    let changed =
        until(&api, "k", |kyma: &DynamicObject| kyma.data["status"]["activeChannel"] == "fast")
            .await;
    give_kubeconfig(&client, "k", "another").await;
    let nowhere = json!({"spec": {"channel": "regular"}});
    api.patch("k", &PatchParams::default(), &Patch::Merge(&nowhere)).await.unwrap();
    let twice = in_state(&api, "k", "Error").await;

    assert_eq!(changed.data["status"]["modules"].as_array().unwrap().len(), 1);
    let said = &twice.data["status"]["lastOperation"]["operation"];
    assert_eq!(said, "more than one access secret found");
}

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
async fn a_kyma_whose_kubeconfig_is_gone_is_let_go_of_without_cleaning_up() {
    let world = World::at(Clock::running(), Speed::Times(0.01)).await;
    let client = world.client("kcp").await;
    let api = make(&client, "k").await;
    in_state(&api, "k", "Processing").await;

    api.delete("k", &DeleteParams::default()).await.unwrap();

    // At this speed cleaning up would take five minutes.
    tokio::time::timeout(std::time::Duration::from_secs(120), gone(&api, "k")).await.unwrap();
}

#[tokio::test]
async fn a_kyma_with_the_skip_label_is_not_touched() {
    let world = World::new().await;
    let client = world.client("kcp").await;
    let api = kymas(&client, "v1beta2");
    let mut skipped = kyma("skipped", &usual());
    let label = ("operator.kyma-project.io/skip-reconciliation".to_owned(), "true".to_owned());
    skipped.metadata.labels = Some([label].into());
    api.create(&PostParams::default(), &skipped).await.unwrap();
    give_kubeconfig(&client, "other", "kubeconfig-other").await;

    make(&client, "other").await;
    in_state(&api, "other", "Ready").await;

    let found = api.get("skipped").await.unwrap();
    assert!(found.metadata.finalizers.is_none() && found.data["status"].is_null());
}

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
