//! Tells the Kyma installer to remove everything; nobody waits for it.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{OnRuntime, on_runtime_error, runtime, shared::secs, shoot};

pub(super) struct TriggerUninstall;

impl<O: OnRuntime> Step<O> for TriggerUninstall {
    const NAME: &'static str = "Trigger_Uninstall";
    const CALLS: &'static [&'static str] = &["gardener", "runtime"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(shoot) = shoot(cx).await? else { return done() };
        let asleep = shoot.status.as_ref().and_then(|status| status.hibernated) == Some(true);
        if asleep || shoot.is_going() || shoot.last_operation().is_none() {
            return done();
        }
        let runtime = runtime(cx).await?;
        match runtime.uninstall().await {
            Ok(_) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
