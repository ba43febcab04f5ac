//! Taking away what only a client can take away: deletions of objects, in the background.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Error, ResourceExt,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    },
};
use serde_json::json;

use super::{
    ClusterContext, SYSTEM_NAMESPACE,
    object_path::{CONTROL_PLANE, GARDEN},
};
use crate::garden::{CONFIRMATION, Runtimes as _, SCENARIO};

/// Takes Shoots away at once, whatever holds them, and their runtimes with them.
pub(super) fn shoots(known: &Arc<ClusterContext>, names: Vec<(String, String)>) {
    let known = known.clone();
    tokio::spawn(async move {
        for (namespace, name) in names {
            if let Err(error) = shoot(&known, &namespace, &name).await {
                tracing::error!(%error, namespace, name, "a Shoot cannot be taken away");
            }
            if let Err(error) = known.remove(&name) {
                tracing::error!(error, name, "a runtime cannot be taken away");
            }
        }
    });
}

async fn shoot(known: &ClusterContext, namespace: &str, name: &str) -> Result<(), WipeError> {
    let gvk = GroupVersionKind::gvk("core.gardener.cloud", "v1beta1", "Shoot");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "shoots");
    let client = known.client(GARDEN).await?;
    let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &resource);
    // One that may disappear is let go before its cluster is gone.
    let annotations = json!({CONFIRMATION: "true", SCENARIO: "disappear@0"});
    let doomed = json!({"metadata": {"annotations": annotations}});
    let released = json!({"metadata": {"finalizers": null}});
    let by = PatchParams::default();
    unless_gone(api.patch(name, &by, &Patch::Merge(&doomed)).await.map(drop))?;
    // Before and after: the gardener may have put its finalizer back in between.
    unless_gone(api.patch(name, &by, &Patch::Merge(&released)).await.map(drop))?;
    unless_gone(api.delete(name, &DeleteParams::default()).await.map(drop))?;
    unless_gone(api.patch(name, &by, &Patch::Merge(&released)).await.map(drop))?;
    Ok(())
}

/// Empties the control plane's namespace.
pub(super) fn control_plane(known: &Arc<ClusterContext>) {
    let known = known.clone();
    tokio::spawn(async move {
        if let Err(error) = empty(&known).await {
            tracing::error!(%error, "the control plane's cluster cannot be emptied");
        }
    });
}

async fn empty(known: &ClusterContext) -> Result<(), WipeError> {
    let client = known.client(CONTROL_PLANE).await?;
    let (how, all) = (DeleteParams::default(), ListParams::default());
    let secrets: Api<Secret> = Api::namespaced(client.clone(), SYSTEM_NAMESPACE);
    secrets.delete_collection(&how, &all).await?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), SYSTEM_NAMESPACE);
    maps.delete_collection(&how, &all).await?;
    let gvk = GroupVersionKind::gvk("operator.kyma-project.io", "v1beta2", "Kyma");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "kymas");
    let kymas: Api<DynamicObject> = Api::namespaced_with(client, SYSTEM_NAMESPACE, &resource);
    kymas.delete_collection(&how, &all).await?;
    for kyma in kymas.list(&all).await? {
        let free = json!({"metadata": {"finalizers": null}});
        let patched =
            kymas.patch(&kyma.name_any(), &PatchParams::default(), &Patch::Merge(&free)).await;
        unless_gone(patched.map(drop))?;
    }
    Ok(known.furnish_control_plane()?)
}

fn unless_gone(done: Result<(), Error>) -> Result<(), Error> {
    match done {
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        done => done,
    }
}

/// Something that is still there.
#[derive(Debug, thiserror::Error)]
enum WipeError {
    #[error(transparent)]
    Unreached(#[from] super::ClusterAccessError),
    #[error(transparent)]
    Kube(#[from] Error),
    #[error(transparent)]
    Refused(#[from] cluster::Status),
}
