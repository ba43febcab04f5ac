//! Has the Lifecycle Manager take its modules out of the runtime.

use clients::Kind;
use engine::StepError;

use super::{Deprovisioning, as_transient, kyma_name};
use crate::operations::prelude::*;

pub(super) struct DeleteKymaResource;

impl Step<Deprovisioning> for DeleteKymaResource {
    const NAME: &'static str = "Delete_Kyma_Resource";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        delete(cx).await?;
        done()
    }
}

/// Deletes the Kyma resource; whether it was there.
pub(super) async fn delete(cx: &Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let (Some(manager), Some(name)) = (&cx.env.lifecycle_manager, kyma_name(cx)) else {
        return Ok(false);
    };
    match manager.delete(namespace(cx, manager.namespace()), &name).await {
        // The cluster does not even have the kind.
        Err(error) if error.kind == Kind::NotFound => Ok(false),
        deleted => deleted.map_err(as_transient),
    }
}

/// Where the Kyma resource is: as it was noted, or with everything else.
pub(super) fn namespace<'a>(cx: &'a Cx<'_, Deprovisioning>, usual: &'a str) -> &'a str {
    cx.data.details.kyma_namespace.as_deref().unwrap_or(usual)
}
