//! Waits until the Lifecycle Manager has let go of the Kyma resource.

use clients::Kind;
use engine::wait;

use super::{
    Deprovisioning, as_transient,
    delete_kyma_resource::{DeleteKymaResource, delete, namespace},
    kyma_name,
};
use crate::operations::prelude::*;

pub(super) struct CheckKymaResourceDeleted;

impl Step<Deprovisioning> for CheckKymaResourceDeleted {
    const NAME: &'static str = "Check_Kyma_Resource_Deleted";
    const RETRY: Retry =
        Retry::DEFAULT.polling(millis(500), secs(15)).closely().backing_off(secs(1), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let env = cx.env;
        let (Some(manager), Some(name)) = (&env.lifecycle_manager, kyma_name(cx)) else {
            return gone(cx);
        };
        let found = match manager.find(namespace(cx, manager.namespace()), &name).await {
            Err(error) if error.kind == Kind::NotFound => None,
            found => found.map_err(as_transient)?,
        };
        let Some(kyma) = found else { return gone(cx) };
        if !kyma.deleting {
            // The step before could not get through.
            delete(cx).await?;
        }
        let state = kyma.state.as_deref().unwrap_or("without a state");
        wait(format!("the Lifecycle Manager removes its modules: {state}"))
    }
}

/// The resource is gone, whether the step before could order it or not.
fn gone(cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
    cx.data.gone::<DeleteKymaResource>();
    done()
}
