//! Has the provisioner remove the cluster.

use base::Failure;
use clients::{
    Kind,
    gardener::RUNTIME_ANNOTATION,
    provisioner::{OperationType, Tenant},
};
use engine::{StepError, wait};

use super::{Deprovisioning, RUNTIME_STEPS, calling, is_own_cluster, runtime};
use crate::operations::prelude::*;

pub(super) struct RemoveRuntime;

impl Step<Deprovisioning> for RemoveRuntime {
    const NAME: &'static str = "Remove_Runtime";
    const RETRY: Retry = Retry::DEFAULT.polling(secs(10), secs(30)).backing_off(secs(5), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        match order(cx).await? {
            Ordered::Yes => cx.data.gone(&[Self::NAME]),
            Ordered::NotYet(reason) => wait(reason),
            Ordered::Gone => cx.data.gone(&RUNTIME_STEPS),
        }
    }
}

/// What became of an order.
pub(super) enum Ordered {
    /// The provisioner works on it, as this operation.
    Yes,
    /// The provisioner has to finish something else first.
    NotYet(String),
    /// There is no cluster.
    Gone,
}

/// Orders the removal.
pub(super) async fn order(cx: &mut Cx<'_, Deprovisioning>) -> Result<Ordered, StepError> {
    if is_own_cluster(cx) {
        return Ok(Ordered::Gone);
    }
    if cx.data.details.runtime_id.is_none() {
        look_in_the_garden(cx).await?;
    }
    let Some(runtime) = runtime(cx) else { return Ok(Ordered::Gone) };
    let tenant = Tenant::new(&cx.input.order.context.globalaccount_id);
    let provisioner = &cx.env.provisioner;
    let begun = match provisioner.deprovision(tenant, &runtime).await {
        Ok(operation) => operation,
        Err(error) if error.kind == Kind::NotFound => return Ok(Ordered::Gone),
        Err(error) if error.kind == Kind::Busy => {
            let status = provisioner.runtime_status(tenant, &runtime).await.map_err(calling)?;
            let last = status.last_operation.as_ref();
            let going = last.filter(|last| is_removal(last.operation));
            match going.and_then(|last| last.id.clone()) {
                Some(operation) => operation,
                None => {
                    let what = last.and_then(|last| last.message.as_deref()).unwrap_or("busy");
                    let reason = format!("the provisioner finishes something else first: {what}");
                    return Ok(Ordered::NotYet(reason));
                }
            }
        }
        Err(error) => return Err(calling(error)),
    };
    if !cx.data.removals.contains(&begun) {
        cx.data.removals.push(begun);
    }
    Ok(Ordered::Yes)
}

fn is_removal(operation: OperationType) -> bool {
    matches!(operation, OperationType::Deprovision | OperationType::DeprovisionNoInstall)
}

/// A create whose order got through and whose answer was lost has a cluster without knowing its id. The cluster's
/// name was chosen before.
async fn look_in_the_garden(cx: &mut Cx<'_, Deprovisioning>) -> Result<(), StepError> {
    let name = &cx.input.order.shoot_name;
    let Some(shoot) = cx.env.gardener.shoot(name).await.map_err(calling)? else { return Ok(()) };
    let id = shoot.annotation(RUNTIME_ANNOTATION).and_then(|id| id.parse().ok());
    if id.is_none() {
        let text = format!("Shoot {name} does not say which runtime it is");
        return Err(StepError::transient(Failure::new("gardener", "foreign_shoot", text)));
    }
    cx.data.details.runtime_id = id;
    Ok(())
}
