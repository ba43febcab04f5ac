//! Waits until Gardener has seen the change. What it reports until then is about what was before.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::operations::{OnRuntime, for_shoot, needed_shoot};

pub(in crate::operations) struct WaitForNewVersion;

impl<O: OnRuntime> Step<O> for WaitForNewVersion {
    const NAME: &'static str = "Wait_For_New_Version";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(5), secs(5)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        let seen = shoot.status.as_ref().and_then(|status| status.observed_generation);
        if seen >= cx.data.generation {
            return done();
        }
        for_shoot(cx, "Gardener has not seen the change yet".into()).into()
    }
}
