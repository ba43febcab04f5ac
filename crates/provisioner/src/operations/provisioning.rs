//! Makes a cluster, and installs and connects what was asked for in it: the plan.

mod create_shoot;
mod finish_provisioning;
mod set_audit_tenant;
mod start_installation;
mod update_director_entry;
mod wait_for_creation;
mod wait_for_domain;

use engine::{Operation, Plan, Step};

use super::{
    Data, Env, Input, Memory,
    shared::{
        configure_agent::ConfigureAgent, create_bindings::CreateBindings,
        fetch_kubeconfig::FetchKubeconfig, mark_connected::MarkConnected,
        wait_for_agent::WaitForAgent, wait_for_installation::WaitForInstallation,
    },
    with_kyma,
};
use crate::limits::Limits;

/// See the module.
pub struct Provisioning;

impl Operation for Provisioning {
    const KIND: &'static str = "provision";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

/// What it does.
pub fn plan(limits: &Limits) -> Plan<Provisioning> {
    Plan::within(limits.provisioning())
        .stage("CreatingCluster")
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
        .step(set_audit_tenant::SetAuditTenant.when(set_audit_tenant::is_configured).or_skip())
        .step(FetchKubeconfig.failing_for(limits.bindings_creation))
        .stage("CreatingBindingsForOperators")
        .step(CreateBindings.failing_for(limits.bindings_creation))
        .stage("StartingInstallation")
        .step(
            start_installation::StartInstallation
                .failing_for(limits.installation_triggering)
                .when(with_kyma),
        )
        .stage("WaitingForInstallation")
        .step(
            WaitForInstallation
                .waiting_for(limits.installation)
                .failing_for(limits.installation)
                .when(with_kyma),
        )
        .stage("ConnectRuntimeAgent")
        .step(ConfigureAgent.failing_for(limits.agent_configuration))
        .stage("WaitForAgentToConnect")
        .step(
            WaitForAgent
                .waiting_for(limits.agent_connection)
                .failing_for(limits.agent_connection)
                .when(with_kyma),
        )
        .step(MarkConnected.failing_for(limits.agent_connection).when(with_kyma))
        .step(finish_provisioning::FinishProvisioning)
}
