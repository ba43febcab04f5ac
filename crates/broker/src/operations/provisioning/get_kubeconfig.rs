//! Gets the way into the runtime, and sees whether it leads anywhere. It is never stored here.

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{kubeconfig, open},
};

pub(super) struct GetKubeconfig;

impl Step<Provisioning> for GetKubeconfig {
    const NAME: &'static str = "Get_Kubeconfig";
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(10), secs(30))
        .backing_off(secs(5), mins(1))
        .waiting_for(mins(60))
        .failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        match kubeconfig(cx).await? {
            Some(kubeconfig) => {
                open(cx.env, &kubeconfig).await?;
                done()
            }
            None => waiting("the provisioner has no kubeconfig yet").into(),
        }
    }
}
