//! Waits until the provisioner has removed the cluster.
//!
//! What a reader would get wrong: a removal that failed is ordered again, and every earlier one is asked about first.
//! The number of removals before an order is part of its idempotency key: it makes the order a new one.

use base::Failure;
use clients::{
    Kind,
    provisioner::{OperationState, OperationStatus, Tenant},
};
use engine::{StepError, wait};

use super::{
    Deprovisioning, as_transient,
    remove_runtime::{RemovalOrder, order},
};
use crate::{following::for_operation, operations::prelude::*};

pub(super) struct CheckRuntimeRemoval;

impl Step<Deprovisioning> for CheckRuntimeRemoval {
    const NAME: &'static str = "Check_Runtime_Removal";
    const CALLS: &'static [&'static str] = &["provisioner", "director", "gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(30)).backing_off(secs(5), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if !cx.data.cluster_may_exist() {
            return gone(cx);
        }
        let mut failed = None;
        for removal in cx.data.removals.clone() {
            match status(cx, &removal).await? {
                // Forgotten by the provisioner: whether the cluster is there, the next order tells.
                None => {}
                Some(OperationStatus { state: OperationState::Succeeded, .. }) => {
                    return gone(cx);
                }
                Some(status) if status.state == OperationState::Failed => failed = Some(status),
                Some(status) => {
                    let tenant = Tenant::new(&cx.input.order.context.globalaccount_id);
                    let follower = cx.env.follower.as_ref();
                    let reason = "the provisioner removes the cluster";
                    return for_operation(follower, tenant, &status, reason).into();
                }
            }
        }
        let nth = cx.data.removals.len() + 1;
        match order(cx, nth).await? {
            RemovalOrder::Gone => gone(cx),
            RemovalOrder::NotYet(reason) => wait(reason),
            RemovalOrder::Yes => match failed {
                Some(status) => Err(StepError::transient(failure(status))),
                None => wait("the provisioner removes the cluster: the removal was requested"),
            },
        }
    }
}

/// There is no cluster, whether the step before could order its removal or not.
fn gone(cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
    cx.data.cluster_is_gone();
    done()
}

/// How an operation is doing, if the provisioner has it.
async fn status(
    cx: &Cx<'_, Deprovisioning>,
    operation: &str,
) -> Result<Option<OperationStatus>, StepError> {
    let tenant = Tenant::new(&cx.input.order.context.globalaccount_id);
    match cx.env.provisioner.operation_status(tenant, operation).await {
        Err(error) if error.kind == Kind::NotFound => Ok(None),
        status => status.map(Some).map_err(as_transient),
    }
}

/// The provisioner's failure of a removal.
fn failure(status: OperationStatus) -> Failure {
    match status.last_error {
        Some(error) => Failure::new(error.component, error.reason, error.message),
        None => {
            let text = status.message.unwrap_or_else(|| "it does not say why".into());
            Failure::new("provisioner", "removal_failed", text)
        }
    }
}
