//! The Lifecycle Manager: a Kyma becomes ready, and what the tests about it share.

mod definitions;
mod ending;
mod kubeconfigs;

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, PostParams},
    runtime::{conditions::is_deleted, wait::await_condition},
};
use serde_json::{Value, json};

use crate::world::{World, namespaced, until};
use kubeconfigs::ELSEWHERE;

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
