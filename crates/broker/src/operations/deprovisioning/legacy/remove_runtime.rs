//! Has the provisioner remove the cluster, and starts the stage over: its first step waits for the end.

use engine::{again, wait};

use crate::operations::{
    deprovisioning::{
        Deprovisioning,
        remove_runtime::{RemovalOrder, order},
    },
    prelude::*,
    shared::outlasted,
};

pub(super) struct RemoveRuntime {
    /// How long it may fail; then the cluster is left over.
    pub(super) patience: Duration,
}

impl Step<Deprovisioning> for RemoveRuntime {
    const NAME: &'static str = "Remove_Runtime";
    const CALLS: &'static [&'static str] = &["provisioner", "director", "gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(30)).backing_off(secs(5), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // A continuation may find that the cluster is gone and only something else was left.
        if cx.data.cluster_may_exist() {
            match order(cx, 1).await {
                Ok(RemovalOrder::Yes) => {
                    cx.data.gone::<Self>();
                }
                Ok(RemovalOrder::Gone) => {
                    cx.data.cluster_is_gone();
                }
                Ok(RemovalOrder::NotYet(reason)) => return wait(reason),
                Err(error) => {
                    let since = &mut cx.data.removal_failing_since;
                    let failure = outlasted(error, since, cx.now, self.patience)?;
                    tracing::warn!(operation.id = %cx.operation, %failure, "the removal of the cluster cannot be ordered");
                }
            }
            cx.data.removal_failing_since = None;
        }
        cx.data.waited_for_by = Some(cx.operation);
        again(secs(1), "the cluster is being removed")
    }
}
