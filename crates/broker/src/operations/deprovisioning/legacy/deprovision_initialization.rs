//! Takes over what the create knew; the second time, sees the removal of the cluster through and forgets the instance.

use engine::{Ending, finish};

use crate::operations::{
    deprovisioning::{
        Deprovisioning, check_runtime_removal::CheckRuntimeRemoval, init_step::take_over,
        left::Removal, release_subscription::ReleaseSubscription, remove_instance::RemoveInstance,
    },
    prelude::*,
    shared::outlasted,
};

const CHECK_RUNTIME_REMOVAL: &str = <CheckRuntimeRemoval as Step<Deprovisioning>>::NAME;
const RELEASE_SUBSCRIPTION: &str = <ReleaseSubscription as Step<Deprovisioning>>::NAME;

pub(super) struct DeprovisionInitialization {
    /// How long removing the cluster or giving the account back may fail; then it is left over.
    pub(super) patience: Duration,
    /// How long the removal of the cluster may take; then it is left over.
    pub(super) runtime: Duration,
}

impl Step<Deprovisioning> for DeprovisionInitialization {
    const NAME: &'static str = "Deprovision_Initialization";
    const CALLS: &'static [&'static str] = &["provisioner", "director", "gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(60), secs(60)).backing_off(secs(10), secs(60));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if cx.data.waited_for_by == Some(cx.operation) {
            return self.see_through(cx).await;
        }
        // What a continuation brings along is newer than what the row knows.
        if cx.data.waited_for_by.is_none() {
            if !take_over(cx).await? {
                return finish("the instance is removed already");
            }
            // This step does the work of two steps that are not in its plan.
            for step in [CHECK_RUNTIME_REMOVAL, RELEASE_SUBSCRIPTION] {
                cx.data.left.insert(step.into());
            }
        }
        done()
    }
}

impl DeprovisionInitialization {
    async fn see_through(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        if let Some(waits) = self.removal(cx).await? {
            return Ok(waits);
        }
        if !cx.data.cluster_may_exist()
            && let Some(waits) = self.release(cx).await?
        {
            return Ok(waits);
        }
        match Step::run(&RemoveInstance, cx).await? {
            Ending::Done => finish("the instance is removed"),
            Ending::Wait(left) => finish(left.reason),
            other => Ok(other),
        }
    }

    /// Waits for the removal of the cluster, as long as it may take; then the cluster is left over.
    async fn removal(&self, cx: &mut Cx<'_, Deprovisioning>) -> Result<Option<Ending>, StepError> {
        let awaited_since = *cx.data.removal_awaited_since.get_or_insert(cx.now);
        match Step::run(&Removal(CheckRuntimeRemoval), cx).await {
            Ok(Ending::Wait(_)) if cx.now >= awaited_since + self.runtime => {
                tracing::warn!(operation.id = %cx.operation, "the cluster is left over: its removal takes too long");
            }
            Ok(Ending::Wait(waits)) => {
                cx.data.removal_failing_since = None;
                return Ok(Some(Ending::Wait(waits)));
            }
            Ok(_) => {}
            Err(error) => {
                let since = &mut cx.data.removal_failing_since;
                let failure = outlasted(error, since, cx.now, self.patience)?;
                tracing::warn!(operation.id = %cx.operation, %failure, "the cluster is left over");
            }
        }
        (cx.data.removal_failing_since, cx.data.removal_awaited_since) = (None, None);
        Ok(None)
    }

    /// Gives the account back; should that fail for too long, it is left over.
    async fn release(&self, cx: &mut Cx<'_, Deprovisioning>) -> Result<Option<Ending>, StepError> {
        match Step::run(&Removal(ReleaseSubscription), cx).await {
            Ok(Ending::Done) => cx.data.release_failing_since = None,
            Ok(other) => return Ok(Some(other)),
            Err(error) => {
                let since = &mut cx.data.release_failing_since;
                let failure = outlasted(error, since, cx.now, self.patience)?;
                tracing::warn!(operation.id = %cx.operation, %failure, "the account is left over");
            }
        }
        Ok(None)
    }
}
