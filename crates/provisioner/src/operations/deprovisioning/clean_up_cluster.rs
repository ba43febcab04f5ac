//! Removes what service brokers have made through the cluster.

use engine::{Cx, Retry, Step, StepResult, done, wait};

use crate::operations::{OnRuntime, on_runtime_error, runtime, shared::secs, shoot};

pub(super) struct CleanUpCluster;

impl<O: OnRuntime> Step<O> for CleanUpCluster {
    const NAME: &'static str = "Clean_Up_Cluster";
    const CALLS: &'static [&'static str] = &["gardener", "runtime"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(1), secs(10)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(shoot) = shoot(cx).await? else { return done() };
        let asleep = shoot.status.as_ref().and_then(|status| status.hibernated) == Some(true);
        if asleep || shoot.is_going() || shoot.last_operation().is_none() {
            return done();
        }
        let runtime = runtime(cx).await?;
        match runtime.clean_service_catalog(&cx.env.settings.service_manager).await {
            Ok(0) => done(),
            Ok(left) => wait(format!("{left} service instances are being removed")),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
