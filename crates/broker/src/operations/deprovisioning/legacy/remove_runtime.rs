//! Has the provisioner remove the cluster, and starts the stage over: its first step waits for the end.

use engine::{again, wait};

use crate::operations::{
    deprovisioning::{
        Deprovisioning, RUNTIME_STEPS,
        remove_runtime::{Ordered, order},
    },
    prelude::*,
};

pub(super) struct RemoveRuntime;

impl Step<Deprovisioning> for RemoveRuntime {
    const NAME: &'static str = "Remove_Runtime";
    const RETRY: Retry = Retry::DEFAULT.polling(secs(10), secs(30)).backing_off(secs(5), secs(30));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        // A continuation may find that the cluster is gone and only something else was left.
        if cx.data.cluster_may_exist() {
            match order(cx).await? {
                Ordered::Yes => cx.data.gone(&[Self::NAME])?,
                Ordered::Gone => cx.data.gone(&RUNTIME_STEPS)?,
                Ordered::NotYet(reason) => return wait(reason),
            };
        }
        cx.data.waited_for_by = Some(cx.operation);
        again(secs(1), "the cluster is being removed")
    }
}
