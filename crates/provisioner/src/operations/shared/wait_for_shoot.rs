//! Waits until Gardener is done with the change.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::operations::{OnRuntime, for_shoot, needed_shoot, progress, reported};

pub(in crate::operations) struct WaitForShoot;

impl<O: OnRuntime> Step<O> for WaitForShoot {
    const NAME: &'static str = "Wait_For_Shoot";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(20), secs(20)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        if shoot.is_settled() {
            return done();
        }
        if let Some(problem) = shoot.problem() {
            let doing = "Gardener Shoot cluster upgrade";
            return reported(&problem, problem.is_final(), doing, &shoot);
        }
        for_shoot(cx, format!("the cluster is being changed: {}", progress(&shoot))).into()
    }
}
