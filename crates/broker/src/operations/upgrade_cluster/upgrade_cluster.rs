//! Has the provisioner upgrade the cluster, and starts the stage over: its first steps wait for the result.
//!
//! What a reader would get wrong: a call whose answer was lost is not lost. It carries a key that is the same in every run, and
//! the provisioner answers a repetition with what it began the first time. So it has a name of its own.

use engine::{again, finish};

use super::UpgradingCluster;
use crate::operations::{
    creator,
    prelude::*,
    shared::{missing_data, ordering, tenant, upgrading},
};

pub(super) struct UpgradeCluster;

impl Step<UpgradingCluster> for UpgradeCluster {
    const NAME: &'static str = "Upgrade_Cluster";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, UpgradingCluster>) -> StepResult {
        let runtime =
            cx.data.details.runtime_id.ok_or_else(|| missing_data("there is no runtime"))?;
        let order = upgrading::order(cx)?;
        let wanted = creator::upgrade(order)?;
        if cx.input.dry_run {
            let version = wanted.cluster.kubernetes_version.unwrap_or_default();
            return finish(format!("dry run: Kubernetes {version} was not ordered"));
        }
        let runtime = runtime.to_string();
        let before = &cx.data.ordered_before;
        let key = cx.key("order");
        let key = |nth| key.nth(nth).formerly(nth);
        let operation =
            ordering::order(cx.env, key, tenant(order), &runtime, &wanted, before).await?;
        cx.data.details.target_operation_id = Some(operation);
        again(millis(500), "the provisioner upgrades the cluster")
    }
}
