//! Waits until Gardener has given the cluster a domain.

use engine::{Cx, Retry, Step, StepResult, done};

use crate::operations::{OnRuntime, for_shoot, needed_shoot, shared::secs};

pub(super) struct WaitForDomain;

impl<O: OnRuntime> Step<O> for WaitForDomain {
    const NAME: &'static str = "Wait_For_Domain";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.polling(secs(5), secs(5)).backing_off(secs(2), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        let Some(domain) = shoot.spec.dns.and_then(|dns| dns.domain) else {
            return for_shoot(cx, "the cluster has no domain yet".into()).into();
        };
        cx.data.domain = Some(domain);
        done()
    }
}
