//! Puts the BTP operator's credentials into the runtime.

use clients::btp::{Btp, ManagerCredentials, ManagerState};
use store::broker::InstanceChange;
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{kubeconfig, missing_data, on_runtime_error, open, update_instance},
};

pub(super) struct InjectBtpOperatorCredentials;

impl Step<Provisioning> for InjectBtpOperatorCredentials {
    const NAME: &'static str = "Inject_BTP_Operator_Credentials";
    const CALLS: &'static [&'static str] = &["provisioner", "btp operator"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let given = cx.input.order.context.sm_operator_credentials.as_ref();
        let given = given.ok_or_else(|| missing_data("the order brings no credentials"))?;
        let cluster_id = match &cx.data.sm_cluster_id {
            Some(kept) => kept.clone(),
            None => {
                let made = Uuid::new_v4().to_string();
                cx.data.sm_cluster_id = Some(made.clone());
                update_instance(cx, InstanceChange::default())?;
                cx.save().await?;
                made
            }
        };
        let credentials = given.for_cluster(&cluster_id);
        let Some(kubeconfig) = kubeconfig(cx).await? else {
            return Err(missing_data("the runtime has no kubeconfig any more"));
        };
        match write(cx, &kubeconfig, &credentials).await {
            Ok(()) => done(),
            Err(error) => Err(on_runtime_error(cx, error)),
        }
    }
}

async fn write(
    cx: &Cx<'_, Provisioning>,
    kubeconfig: &secrecy::SecretString,
    credentials: &ManagerCredentials,
) -> Result<(), clients::Error> {
    let btp = Btp::new(open(cx, kubeconfig).await?);
    if btp.manager(credentials).await? == ManagerState::Same {
        return Ok(());
    }
    btp.write_manager(credentials).await.map(drop)
}
