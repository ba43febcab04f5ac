//! Takes the cluster out of the Reconciler's hands before it is removed.

use engine::StepError;

use super::{Deprovisioning, as_transient, runtime};
use crate::operations::prelude::*;

pub(super) struct DeregisterCluster;

impl Step<Deprovisioning> for DeregisterCluster {
    const NAME: &'static str = "Deregister_Cluster";
    const RETRY: Retry = Retry::every(secs(15));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        deregister(cx).await?;
        done()
    }
}

/// Deletes the cluster in the Reconciler. It is asked even if it was never seen to have the cluster: the answer that said
/// so may have been lost, and what it does not have is removed.
pub(super) async fn deregister(cx: &mut Cx<'_, Deprovisioning>) -> Result<(), StepError> {
    let env = cx.env;
    let (Some(reconciler), Some(runtime)) = (&env.reconciler, runtime(cx)) else { return Ok(()) };
    if !cx.data.details.cluster_configuration_deleted {
        reconciler.delete_cluster(&runtime).await.map_err(as_transient)?;
        cx.data.details.cluster_configuration_deleted = true;
        cx.data.details.reconciler_deregistration_at = Some(cx.now);
    }
    Ok(())
}
