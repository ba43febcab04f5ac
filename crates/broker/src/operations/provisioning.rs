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

use engine::{Cx, Operation, Plan, Step};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    creator::Creator,
    env::Env,
    limits::Limits,
    shared::{
        InRuntime, has_operator_credentials, is_kept_available, is_not_preview, is_ours, is_theirs,
    },
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

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The order.
    pub order: Order,
}

/// What must not be stored.
#[derive(Default)]
pub struct Memory {
    /// What is collected for the order and for Kyma.
    pub creator: Option<Creator>,
    /// The runtime's kubeconfig.
    pub kubeconfig: Option<SecretString>,
    /// The certificate that was asked for; legacy.
    certificate: Option<legacy::Certificate>,
}

/// What there is besides the provisioner. The steps of what is not there are not in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "systems and what they need, each there or not")]
pub struct Switches {
    /// Availability.
    pub avs: bool,
    /// The classes of tags in `AvS`.
    pub avs_tags: bool,
    /// Event data; an order may be required to have it.
    pub edp: bool,
    /// The Reconciler.
    pub reconciler: bool,
    /// The Lifecycle Manager.
    pub lifecycle_manager: bool,
    /// Whether an order fails without event data.
    pub edp_required: bool,
}

impl Switches {
    /// Everything.
    pub const ALL: Self = Self {
        avs: true,
        avs_tags: true,
        edp: true,
        reconciler: true,
        lifecycle_manager: true,
        edp_required: true,
    };

    /// What steps can reach.
    pub fn of(env: &Env) -> Self {
        Self {
            avs: env.avs.is_some(),
            avs_tags: env.avs.as_ref().is_some_and(|avs| avs.settings().tag_classes.is_some()),
            edp: env.edp.is_some(),
            reconciler: env.reconciler.is_some(),
            lifecycle_manager: env.lifecycle_manager.is_some(),
            edp_required: env.settings.edp_required,
        }
    }
}

/// What is done for an order.
pub fn plan(limits: &Limits, on: Switches) -> Plan<Provisioning> {
    let edp = edp_registration::EdpRegistration.when(is_ours()).needs("edp", on.edp);
    let edp = edp.failing_for(limits.edp);
    let edp = if on.edp_required { edp } else { edp.or_skip() };
    Plan::within(limits.provisioning)
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
                .needs("avs", on.avs)
                .failing_for(limits.avs),
        )
        .step(edp)
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
        .step(sync_kubeconfig::SyncKubeconfig.needs("lifecycle manager", on.lifecycle_manager))
        .step(
            create_cluster_configuration::CreateClusterConfiguration
                .when(is_not_preview())
                .needs("reconciler", on.reconciler)
                .failing_for(limits.reconciler),
        )
        .stage("check_kyma")
        .step(
            check_cluster_configuration::CheckClusterConfiguration { within: limits.reconciler }
                .when(is_not_preview())
                .needs("reconciler", on.reconciler)
                .waiting_for(limits.reconciler)
                .failing_for(limits.reconciler),
        )
        .stage("create_kyma_resource")
        .step(apply_kyma::ApplyKyma.needs("lifecycle manager", on.lifecycle_manager))
        .stage("post_actions")
        .step(
            avs_create_external_eval_step::AvsCreateExternalEvalStep
                .when(is_kept_available())
                .needs("avs", on.avs)
                .failing_for(limits.avs * 2),
        )
        .step(
            avs_tags::AvsTags
                .when(is_ours())
                .needs("avs", on.avs && on.avs_tags)
                .failing_for(limits.avs),
        )
}

#[cfg(test)]
mod tests;
