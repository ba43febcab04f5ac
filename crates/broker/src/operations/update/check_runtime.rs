//! Waits until the provisioner has changed the cluster.
//!
//! What a reader would get wrong: an operator's retry begins here when the provisioner's operation has failed, because the stage that
//! has ordered it is closed. So it is ordered again here, once for each retry.

use clients::provisioner::OperationState;

use super::{Updating, changed, upgrade_shoot};
use crate::operations::{
    prelude::*,
    shared::{failed, missing, tenant},
};

pub(super) struct CheckRuntime;

impl Step<Updating> for CheckRuntime {
    const NAME: &'static str = "Check_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(10), mins(1)).backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let operation = cx.data.details.target_operation_id.as_deref();
        let operation =
            operation.ok_or_else(|| missing("the provisioner's operation is not known"))?;
        let tenant = tenant(changed(cx)?);
        let status = cx.env.provisioner.operation_status(tenant, operation).await?;
        match status.state {
            OperationState::Succeeded => done(),
            OperationState::Pending | OperationState::InProgress => {
                let said = status.message.map(|said| format!(": {said}")).unwrap_or_default();
                waiting(format!("the cluster is being changed{said}")).into()
            }
            OperationState::Failed if cx.data.ordered_by == Some(cx.operation) => {
                Err(failed(status))
            }
            OperationState::Failed => {
                let key = cx.key("order");
                upgrade_shoot::order(cx, |nth| key.nth(nth)).await?;
                waiting("the provisioner was asked for the change again").into()
            }
        }
    }
}
