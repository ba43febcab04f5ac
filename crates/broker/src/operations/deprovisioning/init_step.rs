//! Takes over what the operations before it knew about the instance.

use engine::{StepError, finish};

use super::Deprovisioning;
use crate::operations::{prelude::*, shared::instance_knowledge};

pub(super) struct InitStep;

impl Step<Deprovisioning> for InitStep {
    const NAME: &'static str = "Init_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if take_over(cx).await? {
            return done();
        }
        finish("the instance is removed already")
    }
}

/// Takes over what is known, if the instance is there.
pub(super) async fn take_over(cx: &mut Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let known = instance_knowledge::read(&cx.env.store, cx.instance, cx.operation).await?;
    let Some(known) = known else { return Ok(false) };
    cx.data.details = known.details;
    cx.data.begin(cx.plan);
    Ok(true)
}
