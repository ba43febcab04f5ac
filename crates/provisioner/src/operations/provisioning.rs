//! Makes a cluster, and installs and connects Kyma in it: the plan.

mod create_shoot;
mod finish_provisioning;
mod set_audit_tenant;
mod start_installation;
mod update_director_entry;
mod wait_for_creation;
mod wait_for_domain;

use engine::{Operation, Plan, Step};

use super::{
    Data, Env, Input, Memory, OnRuntime,
    shared::{
        bind_credentials::BindCredentials, configure_agent::ConfigureAgent,
        create_bindings::CreateBindings, fetch_kubeconfig::FetchKubeconfig,
        mark_connected::MarkConnected, wait_for_agent::WaitForAgent,
        wait_for_installation::WaitForInstallation, write_authentication::WriteAuthentication,
    },
};
use crate::limits::StageLimits;

/// A cluster with Kyma in it.
pub struct Provisioning;

impl Operation for Provisioning {
    const KIND: &'static str = "provision";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// A cluster with nothing in it but the way to connect it.
pub struct ProvisioningNoInstall;

impl Operation for ProvisioningNoInstall {
    const KIND: &'static str = "provision_no_install";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// The plan for a cluster with Kyma.
pub fn plan(limits: &StageLimits) -> Plan<Provisioning> {
    cluster(Plan::within(limits.provisioning()), limits)
        .stage("StartingInstallation")
        .step(start_installation::StartInstallation.failing_for(limits.installation_triggering))
        .stage("WaitingForInstallation")
        .step(WaitForInstallation.waiting_for(limits.installation).failing_for(limits.installation))
        .stage("ConnectRuntimeAgent")
        .step(ConfigureAgent.failing_for(limits.agent_configuration))
        .stage("WaitForAgentToConnect")
        .step(
            WaitForAgent.waiting_for(limits.agent_connection).failing_for(limits.agent_connection),
        )
        .step(MarkConnected.failing_for(limits.agent_connection))
        .step(finish_provisioning::FinishProvisioning)
}

/// What is done for a cluster with nothing in it: a later installation finds the agent's
/// token.
pub fn plan_no_install(limits: &StageLimits) -> Plan<ProvisioningNoInstall> {
    cluster(Plan::within(limits.provisioning()), limits)
        .stage("ConnectRuntimeAgent")
        .step(ConfigureAgent.failing_for(limits.agent_configuration))
        .step(finish_provisioning::FinishProvisioning)
}

/// The stages for every cluster.
fn cluster<O: OnRuntime>(plan: Plan<O>, limits: &StageLimits) -> Plan<O> {
    plan.stage("CreatingCluster")
        .step(BindCredentials.failing_for(limits.cluster_domain))
        .step(WriteAuthentication.failing_for(limits.cluster_domain))
        .step(create_shoot::CreateShoot.failing_for(limits.cluster_domain))
        .stage("WaitingForClusterDomain")
        .step(
            wait_for_domain::WaitForDomain
                .waiting_for(limits.cluster_domain)
                .failing_for(limits.cluster_domain),
        )
        .step(update_director_entry::UpdateDirectorEntry.failing_for(limits.cluster_domain))
        .stage("WaitingForClusterCreation")
        .step(
            wait_for_creation::WaitForCreation
                .waiting_for(limits.cluster_creation)
                .failing_for(limits.cluster_creation),
        )
        .step(set_audit_tenant::SetAuditTenant.when(set_audit_tenant::is_configured()).or_skip())
        .step(FetchKubeconfig.failing_for(limits.bindings_creation))
        .stage("CreatingBindingsForOperators")
        .step(CreateBindings.failing_for(limits.bindings_creation))
}
