//! Gives the Lifecycle Manager the runtime's kubeconfig as it is now.

use super::UpgradingKyma;
use crate::operations::{
    prelude::*,
    shared::{in_cluster, kubeconfig, kyma, missing_data, require_client, upgrading},
};

pub(super) struct SyncKubeconfig;

impl Step<UpgradingKyma> for SyncKubeconfig {
    const NAME: &'static str = "Sync_Kubeconfig";
    const CALLS: &'static [&'static str] = &["lifecycle manager", "provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let manager = require_client(cx.env.lifecycle_manager.as_ref(), System::LifecycleManager)?;
        let details = &cx.data.details;
        let name =
            kyma::name(details).ok_or_else(|| missing_data("the runtime was never ordered"))?;
        let marks = kyma::marks(upgrading::order(cx)?, details, &name);
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        let written = manager.write_kubeconfig(&name, &kubeconfig, &marks).await;
        written.map_err(in_cluster)?;
        done()
    }
}
