//! Waits until the Reconciler has taken Kyma out of the cluster.

use base::Failure;
use clients::reconciler::Status;
use engine::{StepError, wait};

use super::{
    Deprovisioning, as_transient,
    deregister_cluster::{DeregisterCluster, deregister},
    runtime,
};
use crate::operations::prelude::*;

pub(super) struct CheckClusterDeregistration;

impl Step<Deprovisioning> for CheckClusterDeregistration {
    const NAME: &'static str = "Check_Cluster_Deregistration";
    const RETRY: Retry =
        Retry::DEFAULT.polling(millis(500), secs(30)).closely().backing_off(secs(15), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // Nothing is done again unless the step before could not get through.
        deregister(cx).await?;
        let env = cx.env;
        let (Some(reconciler), Some(runtime)) = (&env.reconciler, runtime(cx)) else {
            return gone(cx);
        };
        let state = match cx.data.details.cluster_configuration_version {
            Some(version) => reconciler.status(&runtime, version).await,
            None => reconciler.latest_status(&runtime).await,
        };
        let Some(state) = state.map_err(as_transient)? else { return gone(cx) };
        match state.status {
            Status::Deleted => gone(cx),
            Status::DeleteError | Status::Error => {
                // Requested again, it begins again.
                cx.data.details.cluster_configuration_deleted = false;
                let text = format!("the Reconciler has given up: {}", state.status);
                Err(StepError::transient(Failure::new("reconciler", state.status.word(), text)))
            }
            status => wait(format!("the Reconciler removes Kyma: {status}")),
        }
    }
}

/// The Reconciler does not have the cluster any more; another one would begin from nothing.
fn gone(cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
    cx.data.details.cluster_configuration_version = None;
    cx.data.gone::<DeregisterCluster>();
    done()
}
