//! Gives a runtime another version of Kyma: the plan.
//!
//! What a reader would get wrong: the steps run by weight and the check comes first. The run that gives the Reconciler the
//! new configuration starts the stage over, and the check then waits for what was applied. Maintenance mode is ended by a
//! chore, whatever becomes of the operation.

mod apply_cluster_configuration;
mod apply_kyma;
mod btp_operator_overrides;
mod busola_migrator_overrides;
mod check_cluster_configuration;
mod init_kyma_template;
mod overrides_from_secrets_and_config_step;
mod sync_kubeconfig;
mod upgrade_kyma_initialisation;

use std::time::Duration;

use clients::spc::EventType;
use engine::{Cx, Operation, Plan, Step, StepError};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use super::shared::upgrading::Data;
use super::{
    creator::Creator,
    env::Env,
    prelude::Failure,
    shared::{
        InRuntime,
        get_kubeconfig::GetKubeconfig,
        has_operator_credentials,
        upgrading::{
            Request, Upgrading, avs_maintenance::AvsMaintenance, is_announced, is_no_dry_run,
            send_notification::SendNotification,
        },
    },
    systems::{System, Systems},
};
use crate::Order;

/// An upgrade of a runtime's Kyma.
pub struct UpgradingKyma;

impl Operation for UpgradingKyma {
    const KIND: &'static str = "upgradeKyma";
    type Input = Input;
    type Data = Data;
    type Memory = Memory;
    type Env = Env;
}

impl Upgrading for UpgradingKyma {
    const EVENT: EventType = EventType::Kyma;

    fn request(input: &Input) -> Request {
        let Input { orchestration, dry_run, notify, .. } = *input;
        Request { orchestration, dry_run, notify }
    }
}

impl InRuntime for UpgradingKyma {
    fn order<'a>(cx: &'a Cx<'_, Self>) -> &'a Order {
        cx.data.order.as_ref().unwrap_or(&cx.input.order)
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
    /// The order as it was when the upgrade was accepted.
    pub order: Order,
    /// The orchestration that the upgrade belongs to.
    #[serde(default)]
    pub orchestration: Option<Uuid>,
    /// Whether nothing outside is to change.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether the customer is notified.
    #[serde(default)]
    pub notify: bool,
    /// The version of Kyma; that of the account, or everybody's, without.
    #[serde(default)]
    pub version: Option<String>,
}

/// Memory; never stored.
#[derive(Default)]
pub struct Memory {
    /// The collected input of Kyma.
    creator: Option<Creator>,
    /// The runtime's kubeconfig.
    kubeconfig: Option<SecretString>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpgradeKymaLimits {
    /// The whole operation.
    pub operation: Duration,
    /// The Reconciler, with one configuration.
    pub reconciler: Duration,
}

impl Default for UpgradeKymaLimits {
    fn default() -> Self {
        Self { operation: Duration::from_hours(3), reconciler: Duration::from_hours(2) }
    }
}

/// The plan for an upgrade of Kyma.
pub fn plan(limits: &UpgradeKymaLimits, systems: Systems) -> Plan<UpgradingKyma> {
    Plan::within(limits.operation)
        .reaching(systems.iter())
        .stage("upgrade")
        .step(upgrade_kyma_initialisation::UpgradeKymaInitialisation.weight(1))
        .step(
            check_cluster_configuration::CheckClusterConfiguration
                .weight(1)
                .needs(System::Reconciler)
                .waiting_for(limits.reconciler)
                .failing_for(limits.reconciler),
        )
        .step(init_kyma_template::InitKymaTemplate.weight(1))
        .step(<GetKubeconfig as Step<UpgradingKyma>>::weight(GetKubeconfig, 2))
        .step(
            sync_kubeconfig::SyncKubeconfig
                .weight(2)
                .when(is_no_dry_run())
                .needs(System::LifecycleManager),
        )
        .step(apply_kyma::ApplyKyma.weight(2).when(is_no_dry_run()).needs(System::LifecycleManager))
        .step(
            btp_operator_overrides::BtpOperatorOverrides.weight(3).when(has_operator_credentials()),
        )
        .step(overrides_from_secrets_and_config_step::OverridesFromSecretsAndConfigStep.weight(4))
        .step(busola_migrator_overrides::BusolaMigratorOverrides.weight(6))
        .step(
            <SendNotification as Step<UpgradingKyma>>::weight(SendNotification, 8)
                .when(is_announced())
                .when(is_no_dry_run())
                .needs(System::Spc)
                .or_skip(),
        )
        .step(
            <AvsMaintenance as Step<UpgradingKyma>>::weight(AvsMaintenance, 9)
                .when(is_no_dry_run())
                .needs(System::Avs),
        )
        .step(
            apply_cluster_configuration::ApplyClusterConfiguration
                .weight(10)
                .needs(System::Reconciler),
        )
}

/// The collected input so far.
fn creator<'a>(cx: &'a mut Cx<'_, UpgradingKyma>) -> Result<&'a mut Creator, StepError> {
    // The first step makes it, so it is there; and if it is not, starting over brings it back.
    cx.memory.creator.as_mut().ok_or_else(|| {
        StepError::transient(Failure::new("broker", "memory_lost", "nothing has been collected"))
    })
}

#[cfg(test)]
mod tests;
