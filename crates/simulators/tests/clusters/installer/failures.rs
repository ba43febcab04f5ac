//! Components and releases that cannot be installed.

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::{NAME, act, apply, installed};
use crate::world::{World, installations, namespaced, until};

#[tokio::test]
async fn without_its_deployment_nothing_is_installed() {
    let world = World::new().await;
    let client = world.runtime("bare").await;
    apply(&world, "bare", "1.20.0").await;
    let deployments = namespaced::<Deployment>(&client, "kyma-installer");
    let deployment = deployments.get("kyma-installer").await.unwrap();
    deployments.delete("kyma-installer", &DeleteParams::default()).await.unwrap();

    act(&client, "install").await;
    let waiting = installations(&client).get(NAME).await.unwrap();
    let mut back = deployment;
    back.metadata.resource_version = None;
    deployments.create(&kube::api::PostParams::default(), &back).await.unwrap();

    installed(&client, "1.20.0").await;
    assert!(waiting.data["status"].is_null(), "{waiting:?}");
}

#[tokio::test]
async fn a_component_that_fails_is_named_and_may_recover() {
    let world = World::new().await;
    let client = world.runtime("fails").await;
    apply(&world, "fails", "1.20.0").await;
    world.order("runtimes", "scenario", &json!({"id": "fails", "installer": "fail=istio"})).await;

    act(&client, "install").await;
    let failed =
        until(&installations(&client), NAME, |found| found.data["status"]["state"] == "Error")
            .await;
    world.order("runtimes", "scenario", &json!({"id": "fails", "installer": "recover=dex"})).await;

    installed(&client, "1.20.0").await;
    let log = &failed.data["status"]["errorLog"][0];
    assert_eq!((&log["component"], &log["occurrences"]), (&json!("istio"), &json!(1)));
}

#[tokio::test]
async fn a_component_that_the_release_does_not_have_is_refused_by_name() {
    let world = World::new().await;
    let client = world.runtime("odd").await;
    apply(&world, "odd", "1.20.0").await;
    let with = |component: serde_json::Value| {
        Patch::Merge(json!({"spec": {"components": [{"name": "istio"}, component]}}))
    };
    let api = installations(&client);
    let by = PatchParams::default();
    api.patch(NAME, &by, &with(json!({"name": "isto"}))).await.unwrap();

    act(&client, "install").await;
    let failed = until(&api, NAME, |found| found.data["status"]["state"] == "Error").await;
    let source = json!({"name": "isto", "source": {"url": "https://example.org/isto.tgz"}});
    api.patch(NAME, &by, &with(source)).await.unwrap();

    installed(&client, "1.20.0").await;
    let log = &failed.data["status"]["errorLog"][0];
    assert_eq!(log["log"], "component isto is not in release 1.20.0");
}
