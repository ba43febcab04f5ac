//! Labels the Kyma resource with the plan that the instance has from now on.

use super::{Updating, changed};
use crate::operations::{
    prelude::*,
    shared::{in_cluster, kyma, require_client},
};

pub(super) struct UpdateKymaResource;

impl Step<Updating> for UpdateKymaResource {
    const NAME: &'static str = "Update_Kyma_Resource";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let manager = require_client(cx.env.lifecycle_manager.as_ref(), System::LifecycleManager)?;
        // Without one, the runtime was made when there was no Lifecycle Manager.
        let Some(name) = cx.data.details.kyma_name.clone() else { return done() };
        let marks = kyma::marks(changed(cx)?, &cx.data.details, &name);
        let namespace = cx.data.details.kyma_namespace.as_deref();
        let namespace = namespace.unwrap_or_else(|| manager.namespace());
        match manager.set_marks(namespace, &name, &marks).await {
            Err(error) if error.kind == clients::Kind::NotFound => done(),
            marked => marked.map_err(in_cluster).map(drop).and_then(|()| done()),
        }
    }
}
