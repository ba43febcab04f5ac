//! Waits until Gardener has made the cluster.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{
    OnRuntime, failed_text, for_shoot, needed_shoot, progress, reported, shared::secs,
};

pub(super) struct WaitForCreation;

impl<O: OnRuntime> Step<O> for WaitForCreation {
    const NAME: &'static str = "Wait_For_Creation";
    const RETRY: Retry = Retry::DEFAULT.polling(secs(20), secs(20)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        if shoot.last_operation().is_some_and(|last| last.state == "Succeeded") {
            return done();
        }
        if let Some(problem) = shoot.problem() {
            // A reconciliation that failed is tried again by Gardener; a creation is not.
            let creating = shoot.last_operation().is_some_and(|last| last.kind == "Create");
            let text = failed_text("cluster provisioning failed", &shoot);
            return reported(&problem, creating && problem.is_final(), text);
        }
        for_shoot(cx, format!("the cluster is being made: {}", progress(&shoot))).into()
    }
}
