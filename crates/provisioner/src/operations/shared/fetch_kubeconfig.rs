//! Gets the cluster's kubeconfig, and keeps it with the runtime.

use engine::{Cx, Retry, Step, StepResult, done};

use super::secs;
use crate::operations::{OnRuntime, needed_shoot};

pub(in crate::operations) struct FetchKubeconfig;

impl<O: OnRuntime> Step<O> for FetchKubeconfig {
    const NAME: &'static str = "Fetch_Kubeconfig";
    const CALLS: &'static [&'static str] = &["gardener"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(20));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let shoot = needed_shoot(cx).await?;
        // Always a new one: the cluster's addresses or authorities may have changed.
        let kubeconfig = cx.env.kubeconfig(&cx.input.target, cx.now, true).await?;
        cx.memory.kubeconfig = Some(kubeconfig);
        cx.data.seed = shoot.spec.seed_name;
        done()
    }
}
