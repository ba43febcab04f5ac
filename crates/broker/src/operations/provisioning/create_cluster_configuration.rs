//! Hands the cluster, and the Kyma that it shall have, to the Reconciler.
//!
//! What a reader would get wrong: an answer that was lost costs nothing. The same payload has the version that it had.

use store::broker::{InstanceChange, StateChange};

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{
        creator, document, kubeconfig, missing_data, require_client, runtime_id, update_instance,
    },
};

pub(super) struct CreateClusterConfiguration;

impl Step<Provisioning> for CreateClusterConfiguration {
    const NAME: &'static str = "Create_Cluster_Configuration";
    const CALLS: &'static [&'static str] = &["reconciler", "provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.cluster_configuration_version.is_some() {
            return done();
        }
        let reconciler = require_client(cx.env.reconciler.as_ref(), System::Reconciler)?;
        let runtime = runtime_id(cx)?;
        let name = cx.data.cluster_name.clone().unwrap_or_default();
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        let order = &cx.input.order;
        let cluster = creator(cx)?.cluster(order, &runtime, &name, &kubeconfig)?;
        let state = reconciler.apply_cluster(&cluster).await?;
        cx.data.cluster_configuration_version = Some(state.configuration_version);
        cx.data.cluster_configuration_at.get_or_insert(cx.now);
        cx.data.cluster_configuration_deleted = false;
        let state = StateChange {
            runtime_id: cx.data.runtime_id,
            holds: vec!["cluster-setup".into(), "kyma-version".into()],
            payload: document(&cluster)?,
        };
        update_instance(
            cx,
            InstanceChange { runtime_state: Some(state), ..InstanceChange::default() },
        )?;
        done()
    }
}
