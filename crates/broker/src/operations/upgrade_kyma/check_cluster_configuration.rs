//! Waits until the Reconciler has installed the new Kyma. Until it was asked to, there is nothing to wait for.

use engine::finish;

use super::UpgradingKyma;
use crate::operations::{
    prelude::*,
    shared::{
        missing_data,
        reconciliation::{Reconciliation, read},
        require_client, runtime_id,
    },
};

pub(super) struct CheckClusterConfiguration;

impl Step<UpgradingKyma> for CheckClusterConfiguration {
    const NAME: &'static str = "Check_Cluster_Configuration";
    const RETRY: Retry =
        Retry::DEFAULT.polling(millis(500), mins(1)).closely().backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        if !cx.data.applied {
            return done();
        }
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let version = cx.data.details.cluster_configuration_version;
        let version = version.ok_or_else(|| missing_data("the Reconciler has no configuration"))?;
        match read(reconciler, &runtime, version).await? {
            Reconciliation::Done => {
                let installed = cx.data.version.as_ref().map_or("", |it| it.version.as_str());
                finish(format!("the Reconciler has installed Kyma {installed}"))
            }
            Reconciliation::Going(waits, _) => waits.into(),
        }
    }
}
