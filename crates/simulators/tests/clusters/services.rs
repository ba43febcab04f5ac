//! The BTP operator in runtimes: its kinds, what it holds, and what it lets go of.

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, PostParams},
    runtime::{conditions::is_deleted, wait::await_condition},
};
use serde_json::json;

use crate::world::{World, ensure_namespace, namespaced, until};

fn services(client: &Client, kind: &str) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("services.cloud.sap.com", "v1", kind);
    let plural = format!("{}s", kind.to_lowercase());
    let resource = ApiResource::from_gvk_with_plural(&gvk, &plural);
    Api::namespaced_with(client.clone(), "default", &resource)
}

/// A runtime whose operator has its credentials and has brought its kinds.
async fn with_operator(world: &World, name: &str) -> Client {
    let client = world.runtime(name).await;
    ensure_namespace(&client, "kyma-system").await;
    let mut secret = Secret::default();
    secret.metadata.name = Some("sap-btp-manager".into());
    let secrets = namespaced::<Secret>(&client, "kyma-system");
    secrets.create(&PostParams::default(), &secret).await.unwrap();
    let kinds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for plural in ["servicebindings", "serviceinstances"] {
        let name = format!("{plural}.services.cloud.sap.com");
        until(&kinds, &name, |_: &CustomResourceDefinition| true).await;
    }
    client
}

async fn make(client: &Client, kind: &str, name: &str) -> Api<DynamicObject> {
    let api = services(client, kind);
    let object = json!({
        "apiVersion": "services.cloud.sap.com/v1", "kind": kind,
        "metadata": {"name": name}, "spec": {"serviceInstanceName": "i"},
    });
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
    let held = |object: &DynamicObject| {
        object.metadata.finalizers.is_some() && object.data["status"]["ready"] == "True"
    };
    until(&api, name, held).await;
    api
}

async fn gone(api: &Api<DynamicObject>, name: &str) {
    if let Some(found) = api.get_opt(name).await.unwrap() {
        let uid = found.metadata.uid.unwrap();
        await_condition(api.clone(), name, is_deleted(&uid)).await.unwrap();
    }
}

#[tokio::test]
async fn the_kinds_come_with_the_credentials() {
    let world = World::new().await;
    let client = world.runtime("r").await;
    let before = services(&client, "ServiceInstance").list(&ListParams::default()).await;

    let client_with = with_operator(&world, "s").await;

    assert!(before.is_err());
    let after = services(&client_with, "ServiceInstance").list(&ListParams::default()).await;
    assert!(after.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_instance_is_held_until_its_binding_is_gone() {
    let world = World::new().await;
    let client = with_operator(&world, "r").await;
    let instances = make(&client, "ServiceInstance", "i").await;
    let bindings = make(&client, "ServiceBinding", "b").await;

    instances.delete("i", &DeleteParams::default()).await.unwrap();
    let held = instances.get("i").await.unwrap();
    bindings.delete("b", &DeleteParams::default()).await.unwrap();

    assert!(held.metadata.deletion_timestamp.is_some());
    gone(&bindings, "b").await;
    gone(&instances, "i").await;
}

#[tokio::test]
async fn an_operator_that_never_lets_go_does_when_the_scenario_ends() {
    let world = World::new().await;
    let client = with_operator(&world, "r").await;
    let instances = make(&client, "ServiceInstance", "i").await;
    let never = json!({"id": "r", "btp": "never"});
    assert_eq!(world.order("runtimes", "scenario", &never).await, 204);

    instances.delete("i", &DeleteParams::default()).await.unwrap();
    // The next write proves that the operator has seen the deletion and kept its finalizer.
    let other = make(&client, "ServiceInstance", "other").await;
    let held = instances.get("i").await.unwrap();
    let maps = namespaced::<ConfigMap>(&client, "kube-system");
    maps.delete("landscape-scenario", &DeleteParams::default()).await.unwrap();

    assert!(held.metadata.finalizers.is_some_and(|all| !all.is_empty()));
    gone(&instances, "i").await;
    assert!(other.get_opt("other").await.unwrap().is_some());
}
