//! Waits until the provisioner has upgraded the cluster, and stores what it has now. Until that was ordered, there is nothing to wait
//! for.

use std::collections::BTreeMap;

use clients::provisioner::OperationState;
use engine::finish;
use store::broker::InstanceChange;

use super::UpgradingCluster;
use crate::{
    Order,
    following::for_operation,
    kubernetes_version::after_order,
    operations::{
        creator,
        prelude::*,
        shared::{cluster_state, document, failed, missing_data, tenant, upgrading},
    },
};

/// What an upgrade changes in the order's cluster, as it is stored. The rest may have changed since the order was read.
const UPGRADED: [&str; 5] = [
    "kubernetesVersion",
    "kubernetesAutoUpdate",
    "machineImage",
    "machineImageVersion",
    "machineImageAutoUpdate",
];

pub(super) struct CheckRuntime;

impl Step<UpgradingCluster> for CheckRuntime {
    const NAME: &'static str = "Check_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), mins(1)).backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, UpgradingCluster>) -> StepResult {
        let Some(operation) = cx.data.details.target_operation_id.as_deref() else {
            return done();
        };
        let tenant = tenant(upgrading::order(cx)?);
        let status = cx.env.provisioner.operation_status(tenant, operation).await?;
        match status.state {
            OperationState::Succeeded => {
                store(cx).await?;
                finish("the provisioner has upgraded the cluster")
            }
            OperationState::Pending | OperationState::InProgress => {
                let follower = cx.env.follower.as_ref();
                for_operation(follower, tenant, &status, "the cluster is being upgraded").into()
            }
            OperationState::Failed => Err(failed(status)),
        }
    }
}

/// Stores the versions that the cluster has now, and the record of what was sent. A higher version of Kubernetes than the ordered one is kept,
/// as the provisioner keeps it.
async fn store(cx: &mut Cx<'_, UpgradingCluster>) -> Result<(), StepError> {
    let order = upgrading::order(cx)?;
    let cluster = order.resolved.cluster.as_ref();
    let cluster = cluster.ok_or_else(|| missing_data("the order has no cluster"))?;
    let ordered = &cluster.kubernetes_version;
    let before = kubernetes_before(cx).await?;
    let kubernetes = before.as_deref().map(|before| after_order(before, ordered).to_owned());
    let mut cluster = serde_json::to_value(cluster).map_err(|error| StepError::internal(&error))?;
    if let Some(kubernetes) = kubernetes {
        cluster["kubernetesVersion"] = kubernetes.into();
    }
    let mut order_fields = BTreeMap::new();
    for field in UPGRADED {
        order_fields.insert(format!("/resolved/cluster/{field}"), document(&cluster[field])?);
    }
    let runtime = cx.data.details.runtime_id.ok_or_else(|| missing_data("there is no runtime"))?;
    let sent = creator::upgrade(order)?;
    let change = InstanceChange {
        order_fields,
        details: Some(document(&cx.data.details)?),
        runtime_state: cluster_state::after(cx.env, runtime, &sent).await?,
        ..InstanceChange::default()
    };
    cx.change(&change)
}

/// The version of Kubernetes in the instance's order, before this upgrade.
async fn kubernetes_before(cx: &Cx<'_, UpgradingCluster>) -> Result<Option<String>, StepError> {
    let row = cx.env.store.find(cx.instance).await.map_err(|error| StepError::internal(&error))?;
    let order = row.and_then(|row| serde_json::from_slice::<Order>(&row.order).ok());
    Ok(order.and_then(|order| order.resolved.cluster).map(|cluster| cluster.kubernetes_version))
}
