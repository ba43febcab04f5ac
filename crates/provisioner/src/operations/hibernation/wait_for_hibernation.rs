//! Waits until the cluster sleeps.

use engine::{Cx, Retry, Step, StepResult, done};

use super::Hibernation;
use crate::operations::{for_shoot, needed_shoot, progress, reported, shared::secs};

pub(super) struct WaitForHibernation;

impl Step<Hibernation> for WaitForHibernation {
    const NAME: &'static str = "Wait_For_Hibernation";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(20), secs(30)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, Hibernation>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        if shoot.status.as_ref().and_then(|status| status.hibernated) == Some(true) {
            return done();
        }
        if let Some(problem) = shoot.problem() {
            return reported(&problem, problem.is_final(), "Cluster hibernation", &shoot);
        }
        for_shoot(cx, format!("the cluster falls asleep: {}", progress(&shoot))).into()
    }
}
