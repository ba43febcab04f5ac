//! The controller against an API server that knows nothing but the definitions.

use base::Clock;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams},
    core::GroupVersionKind,
};
use simulators::{
    garden::{definitions, furnish},
    pace::Speed,
};

use crate::support::{Garden, shoot};

async fn define(client: &Client) {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let api: Api<DynamicObject> = Api::all_with(
        client.clone(),
        &ApiResource::from_gvk_with_plural(&kind, "customresourcedefinitions"),
    );
    for definition in definitions() {
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        api.patch(&name, &PatchParams::apply("test"), &Patch::Apply(&definition)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_definitions_are_all_that_the_controller_needs() {
    let garden = Garden::empty(Speed::MAX, Clock::running(), |catalog, _| catalog).await;
    define(&garden.client).await;
    furnish(&garden.client, &garden.settings).await.unwrap();
    let _controller = garden.controller();

    garden.create(&shoot("plain")).await;
    let ready = garden.until_healthy("plain").await;
    garden.delete("plain").await;
    garden.until_gone("plain").await;

    // Nobody but the controller could have given it a domain here.
    assert_eq!(ready["spec"]["dns"]["domain"], "plain.kyma.kyma.example.com");
    assert_eq!(garden.runtimes.made("plain"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn furnishing_again_leaves_what_was_changed() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "SecretBinding");
    let bindings: Api<DynamicObject> = Api::namespaced_with(
        garden.client.clone(),
        &garden.settings.namespace(),
        &ApiResource::from_gvk_with_plural(&kind, "secretbindings"),
    );
    let claim = serde_json::json!({"metadata": {"labels": {"tenantName": "me"}}});
    let claimed =
        bindings.patch("aws-free-1", &PatchParams::default(), &Patch::Merge(claim)).await.unwrap();

    furnish(&garden.client, &garden.settings).await.unwrap();

    let after = bindings.get("aws-free-1").await.unwrap();
    assert_eq!(after.metadata.resource_version, claimed.metadata.resource_version);
    let free = "hyperscalerType=aws,shared!=true,!tenantName,!dirty,!euAccess";
    let free = kube::api::ListParams::default().labels(free);
    assert_eq!(bindings.list(&free).await.unwrap().items.len(), 1);
}
