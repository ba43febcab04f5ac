//! Makes a runtime and everything around it: the plan.
//!
//! What a reader would get wrong: all that the steps of `create_runtime` collect for the order and for Kyma is in
//! memory, so the steps that collect it, wait for the cluster and use it are one stage. `Check_Runtime` therefore stands
//! in it, under the label of the stage that documents show it in.

mod apply_kyma;
mod avs_create_external_eval_step;
mod avs_create_internal_eval_step;
mod avs_tags;
mod btp_operator_overrides;
mod busola_migrator_overrides;
mod check_cluster_configuration;
mod check_runtime;
mod create_cluster_configuration;
mod create_runtime_for_own_cluster;
mod create_runtime_without_kyma;
mod edp_registration;
mod get_kubeconfig;
mod init_kyma_template;
mod inject_btp_operator_credentials;
pub mod legacy;
mod overrides_from_secrets_and_config_step;
mod provision_initialization;
mod resolve_target_secret;
mod starting;
mod sync_kubeconfig;

use engine::{Cx, Operation, Plan, PlannedStep, Step};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    creator::Creator,
    env::Env,
    limits::ProvisioningLimits,
    shared::{
        InRuntime, has_operator_credentials, is_kept_available, is_not_preview, is_ours, is_theirs,
    },
    systems::{System, Systems},
};
use crate::{Details, Order};

/// A runtime, and everything around it.
pub struct Provisioning;

impl Operation for Provisioning {
    const KIND: &'static str = "provision";
    type Input = Input;
    type Data = Details;
    type Memory = Memory;
    type Env = Env;
}

impl InRuntime for Provisioning {
    fn order<'a>(cx: &'a Cx<'_, Self>) -> &'a Order {
        &cx.input.order
    }

    fn runtime(cx: &Cx<'_, Self>) -> Option<Uuid> {
        cx.data.runtime_id
    }

    fn reach<'a>(cx: &Cx<'a, Self>) -> &'a Env {
        cx.env
    }

    fn kubeconfig<'a>(cx: &'a mut Cx<'_, Self>) -> &'a mut Option<SecretString> {
        &mut cx.memory.kubeconfig
    }
}

/// The request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The order.
    pub order: Order,
}

/// Memory; never stored.
#[derive(Default)]
pub struct Memory {
    /// The collected input of the order and of Kyma.
    pub creator: Option<Creator>,
    /// The runtime's kubeconfig.
    pub kubeconfig: Option<SecretString>,
    /// The certificate that was asked for; legacy.
    certificate: Option<legacy::Certificate>,
}

/// The plan for an order.
pub fn plan(limits: &ProvisioningLimits, systems: Systems) -> Plan<Provisioning> {
    Plan::within(limits.provisioning)
        .reaching(systems.iter())
        .stage("start")
        .step(starting::Starting)
        .stage("create_runtime")
        .step(provision_initialization::ProvisionInitialization)
        .step(init_kyma_template::InitKymaTemplate)
        .step(
            resolve_target_secret::ResolveTargetSecret.when(is_ours()).failing_for(limits.accounts),
        )
        .step(
            avs_create_internal_eval_step::AvsCreateInternalEvalStep
                .needs(System::Avs)
                .failing_for(limits.avs),
        )
        .step(register_with_edp(limits).when(is_ours()))
        .step(
            overrides_from_secrets_and_config_step::OverridesFromSecretsAndConfigStep
                .when(is_not_preview()),
        )
        .step(btp_operator_overrides::BtpOperatorOverrides.when(has_operator_credentials()))
        .step(busola_migrator_overrides::BusolaMigratorOverrides)
        .step(create_runtime_without_kyma::CreateRuntimeWithoutKyma.when(is_ours()))
        .step(create_runtime_for_own_cluster::CreateRuntimeForOwnCluster.when(is_theirs()))
        .step(
            check_runtime::CheckRuntime
                .when(is_ours())
                .labelled("check_runtime")
                .waiting_for(limits.runtime)
                .failing_for(limits.runtime),
        )
        .step(get_kubeconfig::GetKubeconfig)
        .step(
            inject_btp_operator_credentials::InjectBtpOperatorCredentials
                .when(has_operator_credentials()),
        )
        .step(sync_kubeconfig::SyncKubeconfig.needs(System::LifecycleManager))
        .step(
            create_cluster_configuration::CreateClusterConfiguration
                .when(is_not_preview())
                .needs(System::Reconciler)
                .failing_for(limits.reconciler),
        )
        .stage("check_kyma")
        .step(
            check_cluster_configuration::CheckClusterConfiguration { within: limits.reconciler }
                .when(is_not_preview())
                .needs(System::Reconciler)
                .waiting_for(limits.reconciler + check_cluster_configuration::GRACE)
                .failing_for(limits.reconciler),
        )
        .stage("create_kyma_resource")
        .step(apply_kyma::ApplyKyma.needs(System::LifecycleManager))
        .stage("post_actions")
        .step(
            avs_create_external_eval_step::AvsCreateExternalEvalStep
                .when(is_kept_available())
                .needs(System::Avs)
                .failing_for(limits.avs * 2),
        )
        .step(
            avs_tags::AvsTags
                .when(is_ours())
                .needs(System::Avs)
                .switched(systems.contains(System::AvsTags))
                .failing_for(limits.avs),
        )
}

/// The registration with EDP, of which an order may be independent.
fn register_with_edp(limits: &ProvisioningLimits) -> PlannedStep<Provisioning> {
    let required = limits.edp_required;
    let step = edp_registration::EdpRegistration { required };
    let step = step.needs(System::Edp).failing_for(limits.edp);
    if required { step } else { step.or_skip() }
}

#[cfg(test)]
mod tests;
