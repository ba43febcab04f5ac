//! Carries a change to the runtime: the plan.
//!
//! What a reader would get wrong: the instance's row has the old order until the last step. What the change makes of it is worked out
//! by the first step, from the row as it is when the operation begins, and kept in the operation's data; only what the change says
//! is written to the row in the end, because the row's context may have changed meanwhile.

mod apply_reconciler_configuration;
mod btp_operator_overrides;
mod check_reconciler_state;
mod check_runtime;
mod edp_registration;
mod save_parameters;
mod update_init_kyma_version;
mod update_kyma_initialization;
mod update_kyma_resource;
mod upgrade_shoot;

use std::time::Duration;

use clients::reconciler::Cluster;
use domain::parameters;
use engine::{Applies, Condition, Cx, Operation, Plan, Step, StepError};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    env::Env,
    shared::{
        InRuntime, get_kubeconfig::GetKubeconfig, has_operator_credentials, is_not_preview,
        is_ours, missing_data,
    },
    systems::{System, Systems},
};
use crate::{ContextChange, Details, Order};

/// A change of an instance.
pub struct Updating;

impl Operation for Updating {
    const KIND: &'static str = "update";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

impl InRuntime for Updating {
    fn order<'a>(cx: &'a Cx<'_, Self>) -> &'a Order {
        order(cx)
    }

    fn runtime(cx: &Cx<'_, Self>) -> Option<Uuid> {
        cx.data.details.runtime_id
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
    /// The order as it was when the change was accepted.
    pub order: Order,
    /// The parameters that change.
    #[serde(default)]
    pub parameters: parameters::Update,
    /// Changes of the context.
    #[serde(default)]
    pub context: ContextChange,
    /// The id of the plan that the instance changes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
}

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// The details of the instance.
    pub details: Details,
    /// The order with the change, once the operation has begun.
    pub order: Option<Order>,
    /// Whether the Reconciler has got another configuration, which has to be waited for.
    pub check_reconciler_status: bool,
    /// Whether the instance's own plan is written to the other systems again: an earlier change of the plan that did not succeed may have
    /// got half-way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub restores_plan: bool,
    /// Whether the order for the provisioner names the purpose of the cluster. The release before did not, and a repetition of its order
    /// under the same key must not differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub orders_purpose: bool,
    /// The operation that has ordered the change from the provisioner; one that continues it orders what has failed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordered_by: Option<Uuid>,
    /// Operations at the provisioner that earlier operations have ordered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ordered_before: Vec<String>,
}

/// Memory; never stored.
#[derive(Default)]
pub struct Memory {
    /// The runtime's kubeconfig.
    kubeconfig: Option<SecretString>,
    /// The configuration that the Reconciler has, or shall get.
    configuration: Option<Cluster>,
    /// Whether the Reconciler has to get it.
    requires_reconciler_update: bool,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateLimits {
    /// The whole operation.
    pub operation: Duration,
    /// The provisioner, with one change of a runtime.
    pub runtime: Duration,
    /// The Reconciler, with one configuration.
    pub reconciler: Duration,
}

impl Default for UpdateLimits {
    fn default() -> Self {
        Self {
            operation: Duration::from_hours(24),
            runtime: Duration::from_hours(2),
            reconciler: Duration::from_hours(2),
        }
    }
}

/// The plan for an update.
pub fn plan(limits: &UpdateLimits, systems: Systems) -> Plan<Updating> {
    Plan::within(limits.operation)
        .reaching(systems.iter())
        .stage("cluster")
        .step(update_kyma_initialization::UpdateKymaInitialization)
        .step(upgrade_shoot::UpgradeShoot.when(is_ours()))
        .stage("btp-operator")
        .step(update_init_kyma_version::UpdateInitKymaVersion)
        .step(GetKubeconfig.when(has_new_access()))
        .step(
            btp_operator_overrides::BtpOperatorOverrides
                .when(has_operator_credentials())
                .when(is_not_preview()),
        )
        .step(
            apply_reconciler_configuration::ApplyReconcilerConfiguration
                .when(requires_reconciler_update())
                .when(is_not_preview())
                .needs(System::Reconciler),
        )
        .stage("btp-operator-check")
        .step(
            check_reconciler_state::CheckReconcilerState
                .when(has_been_configured())
                .needs(System::Reconciler)
                .waiting_for(limits.reconciler)
                .failing_for(limits.reconciler),
        )
        .stage("check")
        .step(
            check_runtime::CheckRuntime
                .when(is_ours())
                .waiting_for(limits.runtime)
                .failing_for(limits.runtime),
        )
        .step(edp_registration::EdpRegistration.when(changes_plan()).needs(System::Edp))
        .step(
            update_kyma_resource::UpdateKymaResource
                .when(changes_plan())
                .needs(System::LifecycleManager),
        )
        .step(save_parameters::SaveParameters)
}

/// The order with the change, or as it was accepted before the operation has begun.
fn order<'a>(cx: &'a Cx<'_, Updating>) -> &'a Order {
    cx.data.order.as_ref().unwrap_or(&cx.input.order)
}

/// The order with the change.
fn changed<'a>(cx: &'a Cx<'_, Updating>) -> Result<&'a Order, StepError> {
    cx.data.order.as_ref().ok_or_else(|| missing_data("the change was never worked out"))
}

/// The id of the plan that a change leads to, from its stored input.
pub(crate) fn plan_of(input: &[u8]) -> Result<Option<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct PlanOfInput {
        #[serde(default)]
        plan_id: Option<String>,
    }
    serde_json::from_slice(input).map(|input: PlanOfInput| input.plan_id)
}

/// Whether the systems that know the plan get it.
fn sends_plan(cx: &Cx<'_, Updating>) -> bool {
    cx.input.plan_id.is_some() || cx.data.restores_plan
}

/// A failure of the store passes.
fn stored(error: &store::Error) -> StepError {
    StepError::internal(error)
}

const fn has_new_access() -> Condition<Updating> {
    Condition::new(
        "the order has credentials for the BTP operator, or the change brings a kubeconfig",
        |cx| {
            let given = order(cx).context.sm_operator_credentials.is_some();
            let brought = cx.input.parameters.kubeconfig.is_some();
            Applies::when(given || brought, "nothing in the runtime changes")
        },
    )
}

const fn requires_reconciler_update() -> Condition<Updating> {
    Condition::new("the Reconciler's configuration changes", |cx| {
        let changes = cx.memory.requires_reconciler_update && cx.memory.configuration.is_some();
        Applies::when(changes, "the Reconciler has this configuration already")
    })
}

const fn has_been_configured() -> Condition<Updating> {
    Condition::new("the Reconciler has got another configuration", |cx| {
        Applies::when(cx.data.check_reconciler_status, "the Reconciler has nothing to do")
    })
}

const fn changes_plan() -> Condition<Updating> {
    Condition::new("the plan changes or is restored", |cx| {
        Applies::when(sends_plan(cx), "the plan stays")
    })
}

#[cfg(test)]
mod tests;
