//! The record of a cluster: as it was ordered, with everything that was changed since.

use clients::provisioner::UpgradeShoot;
use engine::StepError;
use serde_json::{Value, json};
use store::broker::StateChange;
use uuid::Uuid;

use super::document;
use crate::{kubernetes_version, operations::env::Env};

/// The record of a runtime's cluster after a change that the provisioner was sent; none where there was none before. The version of
/// Kubernetes is the one that the cluster has then.
pub(in crate::operations) async fn after(
    env: &Env,
    runtime: Uuid,
    sent: &UpgradeShoot,
) -> Result<Option<StateChange>, StepError> {
    let last = env.store.latest_runtime_state(runtime, Some("cluster-config")).await;
    let Some(last) = last.map_err(|error| StepError::internal(&error))? else { return Ok(None) };
    let Ok(mut payload) = serde_json::from_slice::<Value>(&last.payload) else { return Ok(None) };
    let mut fields = serde_json::to_value(sent).map_err(|error| StepError::internal(&error))?;
    let before = &payload["clusterConfig"]["gardenerConfig"]["kubernetesVersion"];
    if let (Some(before), Some(sent)) =
        (before.as_str(), sent.cluster.kubernetes_version.as_deref())
    {
        let after = kubernetes_version::after_order(before, sent);
        fields["gardenerConfig"]["kubernetesVersion"] = after.into();
    }
    for (name, value) in fields["gardenerConfig"].as_object().into_iter().flatten() {
        payload["clusterConfig"]["gardenerConfig"][name] = value.clone();
    }
    payload["clusterConfig"]["administrators"] = json!(sent.administrators);
    let holds = vec!["cluster-config".into()];
    Ok(Some(StateChange { runtime_id: Some(runtime), holds, payload: document(&payload)? }))
}
