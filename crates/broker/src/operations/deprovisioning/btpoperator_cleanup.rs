//! Has the services that customers ordered through the cluster removed, while there still is a cluster.

use base::Failure;
use clients::{
    Kind,
    btp::Btp,
    provisioner::{OperationState, OperationType, RuntimeStatus, Tenant},
};
use engine::{StepError, wait};
use secrecy::SecretString;

use super::{Deprovisioning, as_transient, is_own_cluster, runtime};
use crate::operations::prelude::*;

/// The program that removes whole accounts: their Service Manager is gone before us, so that nothing would remove finalizers.
const ACCOUNT_CLEANUP: &str = "accountcleanup-job";

pub(super) struct BtpOperatorCleanup {
    /// How long the BTP operator may take.
    pub(super) patience: Duration,
}

impl Step<Deprovisioning> for BtpOperatorCleanup {
    const NAME: &'static str = "BTPOperator_Cleanup";
    const CALLS: &'static [&'static str] = &["provisioner", "gardener", "btp operator"];
    const RETRY: Retry = Retry::every(secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let Some(kubeconfig) = kubeconfig(cx).await? else { return done() };
        let since = *cx.data.services_going_since.get_or_insert(cx.now);
        let btp = match cx.env.clusters.get(&kubeconfig).await {
            Ok(cluster) => Btp::new(cluster),
            Err(error) => {
                cx.memory.kubeconfig = None;
                return Err(as_transient(error));
            }
        };
        let hopeless = cx.input.user_agent.as_deref() == Some(ACCOUNT_CLEANUP);
        match clean(&btp, hopeless || cx.now >= since + self.patience).await {
            Ok(0) => done(),
            Ok(left) => wait(format!("{left} service bindings and instances are being removed")),
            Err(error) => {
                // The kubeconfig may have been replaced meanwhile.
                cx.memory.kubeconfig = None;
                if error.kind == Kind::Unauthorized {
                    cx.env.clusters.forget(&kubeconfig);
                }
                Err(as_transient(error))
            }
        }
    }
}

/// Bindings first, then instances; how many are left. Out of patience, what keeps them is taken away.
async fn clean(btp: &Btp, out_of_patience: bool) -> Result<usize, clients::Error> {
    let there = btp.delete_services().await?;
    if there.is_clean() {
        return Ok(0);
    }
    if out_of_patience {
        btp.strip_finalizers().await?;
    }
    let left = btp.left().await?;
    Ok(left.bindings + left.instances)
}

/// The cluster's kubeconfig; none when nothing can be in it.
async fn kubeconfig(cx: &mut Cx<'_, Deprovisioning>) -> Result<Option<SecretString>, StepError> {
    let Some(runtime) = runtime(cx).filter(|_| !is_own_cluster(cx)) else { return Ok(None) };
    if let Some(kept) = &cx.memory.kubeconfig {
        return Ok(Some(kept.clone()));
    }
    let tenant = Tenant::new(&cx.input.order.context.globalaccount_id);
    let status = match cx.env.provisioner.runtime_status(tenant, &runtime).await {
        Err(error) if error.kind == Kind::NotFound => return Ok(None),
        status => status.map_err(as_transient)?,
    };
    match status.kubeconfig() {
        Some(kubeconfig) => cx.memory.kubeconfig = Some(kubeconfig.clone()),
        None if was_never_ready(&status) => return Ok(None),
        None if !is_there(cx).await? => return Ok(None),
        None => {
            let text = format!("the provisioner has no kubeconfig of runtime {runtime}");
            return Err(StepError::transient(Failure::new("provisioner", "no_kubeconfig", text)));
        }
    }
    Ok(cx.memory.kubeconfig.clone())
}

/// Whether Gardener has the cluster, whatever the provisioner knows.
async fn is_there(cx: &Cx<'_, Deprovisioning>) -> Result<bool, StepError> {
    let shoot = cx.env.gardener.shoot(&cx.input.order.shoot_name).await;
    Ok(shoot.map_err(as_transient)?.is_some())
}

/// Whether the cluster never was handed over, or is going already.
fn was_never_ready(status: &RuntimeStatus) -> bool {
    use OperationType as Type;
    status.last_operation.as_ref().is_some_and(|last| match last.operation {
        Type::Provision | Type::ProvisionNoInstall => last.state != OperationState::Succeeded,
        other => matches!(other, Type::Deprovision | Type::DeprovisionNoInstall),
    })
}
