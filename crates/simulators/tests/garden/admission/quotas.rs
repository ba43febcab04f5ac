//! Quotas of an account, which new and larger Shoots have to fit into.

use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, PostParams},
    core::GroupVersionKind,
};
use serde_json::json;
use simulators::pace::Speed;

use crate::support::{Garden, shoot};

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_of_the_account_is_kept() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let namespaced = |kind: &str, plural: &str| -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        Api::namespaced_with(garden.client.clone(), "garden-kyma", &resource)
    };
    let quota = serde_json::from_value(json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Quota",
        "metadata": {"name": "little"}, "spec": {"metrics": {"cpu": "60"}, "scope": {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project"}},
    }));
    namespaced("Quota", "quotas").create(&PostParams::default(), &quota.unwrap()).await.unwrap();
    let bindings = namespaced("SecretBinding", "secretbindings");
    let limited = serde_json::from_value(json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
        "metadata": {"name": "limited"}, "provider": {"type": "aws"},
        "secretRef": {"name": "aws-free-1", "namespace": "garden-kyma"},
        "quotas": [{"name": "little", "namespace": "garden-kyma"}],
    }));
    bindings.create(&PostParams::default(), &limited.unwrap()).await.unwrap();
    let paid = |name: &str| {
        let mut shoot = shoot(name);
        shoot.data["spec"]["secretBindingName"] = json!("limited");
        shoot
    };

    // Ten machines of four cores each.
    garden.create(&paid("first")).await;
    let (code, message) = garden.refused(&paid("second")).await;
    bindings.delete("limited", &DeleteParams::default()).await.unwrap();
    let held = bindings.get("limited").await.unwrap().metadata;

    assert_eq!(code, 403);
    let expected = "quota limits exceeded. Unable to allocate further cpu";
    assert!(message.contains(expected), "{message}");
    assert!(held.deletion_timestamp.is_some(), "it goes with the last Shoot");
    assert_eq!(held.finalizers.unwrap(), ["gardener"]);
}
