//! Removes a runtime with everything that was made for it: the plan.
//!
//! What a reader would get wrong: what is inside of the cluster goes with it, so nothing that fails
//! there keeps the cluster from being deleted.

mod clean_up_cluster;
mod delete_shoot;
mod forget_runtime;
mod trigger_uninstall;
mod unregister_runtime;
mod wait_for_deletion;

use engine::{Operation, Plan, Step};

use super::{Data, Env, Input, Memory, with_kyma};
use crate::limits::Limits;

/// See the module.
pub struct Deprovisioning;

impl Operation for Deprovisioning {
    const KIND: &'static str = "deprovision";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// What it does.
pub fn plan(limits: &Limits) -> Plan<Deprovisioning> {
    Plan::within(limits.deprovisioning())
        .stage("CleanupCluster")
        .step(
            clean_up_cluster::CleanUpCluster
                .waiting_for(limits.cluster_cleanup)
                .failing_for(limits.cluster_cleanup)
                .or_skip()
                .when(with_kyma),
        )
        .stage("TriggerKymaUninstall")
        .step(
            trigger_uninstall::TriggerUninstall
                .failing_for(limits.uninstall_triggering)
                .or_skip()
                .when(with_kyma),
        )
        .stage("DeprovisionCluster")
        .step(delete_shoot::DeleteShoot.failing_for(limits.cluster_deletion))
        .stage("WaitForClusterDeletion")
        .step(
            wait_for_deletion::WaitForDeletion
                .waiting_for(limits.waiting_for_cluster_deletion)
                .failing_for(limits.waiting_for_cluster_deletion),
        )
        .step(
            unregister_runtime::UnregisterRuntime.failing_for(limits.waiting_for_cluster_deletion),
        )
        .step(forget_runtime::ForgetRuntime)
}
