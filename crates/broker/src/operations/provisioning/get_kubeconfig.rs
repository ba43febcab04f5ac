//! Gets the runtime's kubeconfig, and sees whether it leads to an API server. It is never stored here.

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{kubeconfig, on_runtime_error, open},
};

pub(super) struct GetKubeconfig;

impl Step<Provisioning> for GetKubeconfig {
    const NAME: &'static str = "Get_Kubeconfig";
    const CALLS: &'static [&'static str] = &["provisioner", "runtime"];
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(10), secs(30))
        .backing_off(secs(5), mins(1))
        .waiting_for(mins(60))
        .failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        match kubeconfig(cx).await? {
            Some(kubeconfig) => {
                let tried = match open(cx, &kubeconfig).await {
                    Ok(cluster) => cluster.version().await,
                    Err(error) => Err(error),
                };
                match tried {
                    Ok(_) => done(),
                    Err(error) => Err(on_runtime_error(cx, error)),
                }
            }
            None => waiting("the provisioner has no kubeconfig yet").into(),
        }
    }
}
