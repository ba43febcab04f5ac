//! Takes the operation out of `pending`. That nothing else of its instance runs, the engine has seen to.

use super::Provisioning;
use crate::operations::prelude::*;

pub(super) struct Starting;

impl Step<Provisioning> for Starting {
    const NAME: &'static str = "Starting";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        tracing::debug!(operation.id = %cx.operation, plan = cx.input.order.plan_name, "a provisioning starts");
        done()
    }
}
