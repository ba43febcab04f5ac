//! Takes the operation out of `pending`, and takes over what is known about an instance that comes back. That nothing else
//! of its instance runs, the engine has seen to.

use super::Provisioning;
use crate::{
    Details,
    operations::{deprovisioning::keeps_cluster, prelude::*, shared::instance_knowledge},
};

pub(super) struct Starting;

impl Step<Provisioning> for Starting {
    const NAME: &'static str = "Starting";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        tracing::debug!(operation.id = %cx.operation, plan = cx.input.order.plan_name, "a provisioning starts");
        take_over(cx).await?;
        done()
    }
}

/// Takes over what the operations before knew. A cluster that a suspension has not removed stands in the way: a second
/// one would leave it without an owner.
pub(super) async fn take_over(cx: &mut Cx<'_, Provisioning>) -> Result<(), StepError> {
    if *cx.data != Details::default() {
        return Ok(());
    }
    let known =
        instance_knowledge::read(cx.env.creations.store(), cx.instance, cx.operation).await?;
    let Some(known) = known else { return Ok(()) };
    *cx.data = match known.suspension {
        Some(left) if keeps_cluster(&left) => {
            let text = "the suspension before has not removed the cluster";
            return Err(StepError::fatal(Failure::new("broker", "suspension_incomplete", text)));
        }
        Some(_) => known.details.without_cluster(),
        None => known.details,
    };
    Ok(())
}
