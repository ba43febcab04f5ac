//! Takes over what the create knew; the second time, sees the removal of the cluster through and forgets the instance.

use engine::{Ending, finish};

use crate::operations::{
    deprovisioning::{
        Deprovisioning, check_runtime_removal::CheckRuntimeRemoval, init_step::take_over,
        release_subscription::ReleaseSubscription, remove_instance::RemoveInstance,
    },
    prelude::*,
    shared::outlasted,
};

pub(super) struct DeprovisionInitialization {
    /// The steps that will have something to remove.
    pub(super) steps: Vec<&'static str>,
    /// How long giving the account back may fail; then it is left over.
    pub(super) patience: Duration,
}

impl Step<Deprovisioning> for DeprovisionInitialization {
    const NAME: &'static str = "Deprovision_Initialization";
    const RETRY: Retry = Retry::DEFAULT.polling(secs(60), secs(60)).backing_off(secs(10), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if cx.data.waited_for_by == Some(cx.operation) {
            return see_through(cx, self.patience).await;
        }
        // What a continuation brings along is newer than what the row knows.
        if cx.data.waited_for_by.is_none() && !take_over(cx, &self.steps).await? {
            return finish("the instance is removed already");
        }
        done()
    }
}

async fn see_through(cx: &mut Cx<'_, Deprovisioning>, patience: Duration) -> StepResult {
    let removal = Step::run(&CheckRuntimeRemoval, cx).await?;
    if removal != Ending::Done {
        return Ok(removal);
    }
    match Step::run(&ReleaseSubscription, cx).await {
        Ok(Ending::Done) => cx.data.release_failing_since = None,
        Ok(other) => return Ok(other),
        Err(error) => {
            let since = &mut cx.data.release_failing_since;
            let failure = outlasted(error, since, cx.now, patience)?;
            tracing::warn!(operation.id = %cx.operation, %failure, "the account is left over");
        }
    }
    match Step::run(&RemoveInstance, cx).await? {
        Ending::Done => finish("the instance is removed"),
        Ending::Wait(left) => finish(left.reason),
        other => Ok(other),
    }
}
