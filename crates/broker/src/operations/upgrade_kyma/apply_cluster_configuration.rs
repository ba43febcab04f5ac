//! Gives the Reconciler the configuration with the new Kyma, and starts the stage over: its first steps wait for the result.
//!
//! What a reader would get wrong: an answer that was lost costs nothing. The same payload has the version that it had.

use engine::{again, finish};
use store::broker::{InstanceChange, StateChange};

use super::{UpgradingKyma, creator};
use crate::operations::{
    prelude::*,
    shared::{document, kubeconfig, missing_data, require_client, runtime_id, upgrading},
};

pub(super) struct ApplyClusterConfiguration;

impl Step<UpgradingKyma> for ApplyClusterConfiguration {
    const NAME: &'static str = "Apply_Cluster_Configuration";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let name = cx.data.details.cluster_name.clone().unwrap_or_default();
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        let order = upgrading::order(cx)?.clone();
        let cluster = creator(cx)?.cluster(&order, &runtime, &name, &kubeconfig)?;
        if cx.input.dry_run {
            let version = &cluster.kyma_config.version;
            return finish(format!("dry run: Kyma {version} was not given to the Reconciler"));
        }
        let state = reconciler.apply_cluster(&cluster).await?;
        let details = &mut cx.data.details;
        details.runtime_version.clone_from(&cx.data.version);
        details.cluster_configuration_version = Some(state.configuration_version);
        details.cluster_configuration_at = Some(cx.now);
        details.cluster_configuration_deleted = false;
        cx.data.applied = true;
        let state = StateChange {
            runtime_id: cx.data.details.runtime_id,
            holds: vec!["cluster-setup".into(), "kyma-version".into()],
            payload: document(&cluster)?,
        };
        // A removal that comes before the end has to know the configuration's version.
        let details = Some(document(&cx.data.details)?);
        let change =
            InstanceChange { runtime_state: Some(state), details, ..InstanceChange::default() };
        cx.change(&change)?;
        again(millis(500), "the Reconciler has the new configuration")
    }
}
