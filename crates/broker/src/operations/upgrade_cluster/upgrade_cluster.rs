//! Has the provisioner upgrade the cluster, and starts the stage over: its first steps wait for the result.
//!
//! What a reader would get wrong: a call whose answer was lost is not lost. It carries a key that is the same in every run, and
//! the provisioner answers a repetition with what it began the first time. An operator's retry has the keys of the operation that
//! it continues: what that one has ordered and has failed since is ordered once more, under the key of the next order.

use clients::provisioner::OperationState;
use engine::{again, finish};

use super::UpgradingCluster;
use crate::operations::{
    creator,
    prelude::*,
    shared::{missing, tenant, upgrading},
};

pub(super) struct UpgradeCluster;

impl Step<UpgradingCluster> for UpgradeCluster {
    const NAME: &'static str = "Upgrade_Cluster";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, UpgradingCluster>) -> StepResult {
        let runtime = cx.data.details.runtime_id.ok_or_else(|| missing("there is no runtime"))?;
        let order = upgrading::order(cx)?;
        let wanted = creator::upgrade(order)?;
        if cx.input.dry_run {
            let version = wanted.cluster.kubernetes_version.unwrap_or_default();
            return finish(format!("dry run: Kubernetes {version} was not ordered"));
        }
        let runtime = runtime.to_string();
        let before = &cx.data.ordered_before;
        let mut operation = String::new();
        for nth in 1..=before.len() + 1 {
            let key = cx.key("order").nth(nth).formerly(nth);
            let provisioner = &cx.env.provisioner;
            let begun = provisioner.upgrade_shoot(tenant(order), key, &runtime, &wanted).await?;
            let begun_id = begun.id;
            operation =
                begun_id.ok_or_else(|| missing("the provisioner did not say what it began"))?;
            if begun.state != OperationState::Failed || !before.contains(&operation) {
                break;
            }
        }
        cx.data.details.target_operation_id = Some(operation);
        again(secs(5), "the provisioner upgrades the cluster")
    }
}
