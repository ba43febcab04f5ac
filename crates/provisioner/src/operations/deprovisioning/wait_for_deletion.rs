//! Waits until Gardener has deleted the cluster.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{OnRuntime, for_shoot, progress, reported, shared::secs, shoot_to_remove};

pub(super) struct WaitForDeletion;

impl<O: OnRuntime> Step<O> for WaitForDeletion {
    const NAME: &'static str = "Wait_For_Deletion";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(20), secs(20)).backing_off(secs(5), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(shoot) = shoot_to_remove(cx).await? else { return done() };
        let deleting = shoot.last_operation().is_some_and(|last| last.kind == "Delete");
        if deleting && let Some(problem) = shoot.problem() {
            // An operator may remove the cause before the time is up.
            return reported(&problem, false, "cluster deletion", &shoot);
        }
        for_shoot(cx, format!("the cluster is being deleted: {}", progress(&shoot))).into()
    }
}
