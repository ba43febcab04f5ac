//! Removes a runtime with everything that was made for it: the plan.
//!
//! What a reader would get wrong: what is inside of the cluster goes with it, so nothing that fails
//! there keeps the cluster from being deleted.

mod clean_up_cluster;
mod delete_shoot;
mod forget_runtime;
mod remove_authentication;
mod trigger_uninstall;
mod unregister_runtime;
mod wait_for_deletion;

use engine::{Operation, Plan, Step};

use super::{Data, Env, Input, Memory, OnRuntime};
use crate::limits::StageLimits;

/// The end of a cluster with Kyma in it.
pub struct Deprovisioning;

impl Operation for Deprovisioning {
    const KIND: &'static str = "deprovision";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The end of a cluster with nothing in it.
pub struct DeprovisioningNoInstall;

impl Operation for DeprovisioningNoInstall {
    const KIND: &'static str = "deprovision_no_install";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan for a cluster with Kyma.
pub fn plan(limits: &StageLimits) -> Plan<Deprovisioning> {
    let plan = Plan::within(limits.deprovisioning())
        .stage("CleanupCluster")
        .step(
            clean_up_cluster::CleanUpCluster
                .waiting_for(limits.cluster_cleanup)
                .failing_for(limits.cluster_cleanup)
                .or_leave("what was made from inside of the cluster"),
        )
        .stage("TriggerKymaUninstall")
        .step(
            trigger_uninstall::TriggerUninstall
                .failing_for(limits.uninstall_triggering)
                .or_leave("Kyma in the cluster"),
        );
    cluster(plan, limits)
}

/// The plan for a cluster without Kyma.
pub fn plan_no_install(limits: &StageLimits) -> Plan<DeprovisioningNoInstall> {
    cluster(Plan::within(limits.deprovisioning()), limits)
}

/// The stages for every cluster.
fn cluster<O: OnRuntime>(plan: Plan<O>, limits: &StageLimits) -> Plan<O> {
    plan.stage("DeprovisionCluster")
        .step(delete_shoot::DeleteShoot.failing_for(limits.cluster_deletion))
        .stage("WaitForClusterDeletion")
        .step(
            wait_for_deletion::WaitForDeletion
                .waiting_for(limits.waiting_for_cluster_deletion)
                .failing_for(limits.waiting_for_cluster_deletion),
        )
        .step(
            remove_authentication::RemoveAuthentication
                .failing_for(limits.cluster_cleanup)
                .or_leave("the ConfigMap with the issuers of its users"),
        )
        .step(
            unregister_runtime::UnregisterRuntime.failing_for(limits.waiting_for_cluster_deletion),
        )
        .step(forget_runtime::ForgetRuntime)
}
