//! Gives the Lifecycle Manager the runtime's kubeconfig.

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{in_cluster, kubeconfig, kyma, missing_data, require_client},
};

pub(super) struct SyncKubeconfig;

impl Step<Provisioning> for SyncKubeconfig {
    const NAME: &'static str = "Sync_Kubeconfig";
    const CALLS: &'static [&'static str] = &["lifecycle manager", "provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let manager = require_client(cx.env.lifecycle_manager.as_ref(), System::LifecycleManager)?;
        let name =
            kyma::name(cx.data).ok_or_else(|| missing_data("the runtime was never ordered"))?;
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        let marks = kyma::marks(&cx.input.order, cx.data, &name);
        let written = manager.write_kubeconfig(&name, &kubeconfig, &marks).await;
        written.map_err(in_cluster)?;
        done()
    }
}
