//! Gets the runtime's kubeconfig, and sees whether it leads to an API server. It is never stored here.

use super::{InRuntime, kubeconfig, on_runtime_error, open};
use crate::operations::prelude::*;

pub(in crate::operations) struct GetKubeconfig;

impl<O: InRuntime<Memory: Sync>> Step<O> for GetKubeconfig {
    const NAME: &'static str = "Get_Kubeconfig";
    const CALLS: &'static [&'static str] = &["provisioner", "runtime"];
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(10), secs(30))
        .backing_off(secs(5), mins(1))
        .waiting_for(mins(60))
        .failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return waiting("the provisioner has no kubeconfig yet").into();
        };
        let tried = match open(cx, &kubeconfig).await {
            Ok(cluster) => cluster.version().await,
            Err(error) => Err(error),
        };
        match tried {
            Ok(_) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}
