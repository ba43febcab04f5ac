//! Waits until the provisioner has changed the cluster.
//!
//! What a reader would get wrong: an operator's retry begins here when the provisioner's operation has failed, because the stage that
//! has ordered it is closed. So it is ordered again here, once for each retry.

use clients::provisioner::OperationState;
use uuid::Uuid;

use super::{Updating, changed, upgrade_shoot};
use crate::{
    following::for_operation,
    operations::{
        prelude::*,
        shared::{failed, missing_data, tenant},
    },
};

pub(super) struct CheckRuntime;

impl Step<Updating> for CheckRuntime {
    const NAME: &'static str = "Check_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), mins(1)).backing_off(secs(5), mins(1));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let operation = cx.data.details.target_operation_id.as_deref();
        let operation =
            operation.ok_or_else(|| missing_data("the provisioner's operation is not known"))?;
        let tenant = tenant(changed(cx)?);
        let status = cx.env.provisioner.operation_status(tenant, operation).await?;
        match status.state {
            OperationState::Succeeded => done(),
            OperationState::Pending | OperationState::InProgress => {
                let follower = cx.env.follower.as_ref();
                for_operation(follower, tenant, &status, "the cluster is being changed").into()
            }
            OperationState::Failed if ordered_itself(cx.data.ordered_by, cx.operation, cx.root) => {
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

/// Whether an operation has ordered what failed. Data of older releases does not say who ordered: the operation itself, unless it continues another one.
fn ordered_itself(by: Option<Uuid>, operation: Uuid, root: Uuid) -> bool {
    by.map_or(operation == root, |by| by == operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_orders_again_only_what_another_one_has_ordered() {
        let (first, retry) = (Uuid::from_u128(1), Uuid::from_u128(2));

        assert!(ordered_itself(Some(first), first, first));
        assert!(!ordered_itself(Some(first), retry, first));
        assert!(ordered_itself(Some(retry), retry, first));
        assert!(ordered_itself(None, first, first), "begun by an older release");
        assert!(!ordered_itself(None, retry, first), "a retry of one of an older release");
    }
}
