//! Removes the Secret through which the Lifecycle Manager got into the runtime.

use super::{Deprovisioning, as_transient, kyma_name};
use crate::operations::prelude::*;

pub(super) struct DeleteKubeconfig;

impl Step<Deprovisioning> for DeleteKubeconfig {
    const NAME: &'static str = "Delete_Kubeconfig";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let env = cx.env;
        if let (Some(manager), Some(name)) = (&env.lifecycle_manager, kyma_name(cx)) {
            manager.remove_kubeconfig(&name).await.map_err(as_transient)?;
        }
        done()
    }
}
