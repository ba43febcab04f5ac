//! Gives the Reconciler the configuration with the change.
//!
//! What a reader would get wrong: an answer that was lost costs nothing. The same payload has the version that it had.

use store::broker::{InstanceChange, StateChange};

use super::Updating;
use crate::operations::{
    prelude::*,
    shared::{document, kubeconfig, missing_data, require_client},
};

pub(super) struct ApplyReconcilerConfiguration;

impl Step<Updating> for ApplyReconcilerConfiguration {
    const NAME: &'static str = "Apply_Reconciler_Configuration";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let configuration = cx.memory.configuration.as_mut();
        let configuration =
            configuration.ok_or_else(|| missing_data("there is no configuration"))?;
        configuration.kubeconfig = kubeconfig;
        let state = reconciler.apply_cluster(configuration).await?;
        let payload = document(&*configuration)?;
        let details = &mut cx.data.details;
        details.cluster_configuration_version = Some(state.configuration_version);
        details.cluster_configuration_deleted = false;
        cx.data.check_reconciler_status = true;
        let holds = vec!["cluster-setup".into(), "kyma-version".into()];
        let state = StateChange { runtime_id: cx.data.details.runtime_id, holds, payload };
        // A removal that comes before the end has to know the configuration's version.
        let details = Some(document(&cx.data.details)?);
        let change =
            InstanceChange { runtime_state: Some(state), details, ..InstanceChange::default() };
        cx.change(&change)?;
        done()
    }
}
