//! Gives a runtime's cluster another version of Kubernetes or another machine image: the plan.
//!
//! What a reader would get wrong: the steps run by weight and the check comes first. The run that orders the upgrade from the
//! provisioner starts the stage over, and the check then waits for what was ordered. Maintenance mode is ended by a chore,
//! whatever becomes of the operation.

mod check_runtime;
#[expect(clippy::module_inception, reason = "the step is named as the operation is")]
mod upgrade_cluster;
mod upgrade_cluster_initialisation;

use std::time::Duration;

use clients::spc::EventType;
use engine::{Operation, Plan, Step};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use super::shared::upgrading::Data;
use super::{
    env::Env,
    shared::upgrading::{
        Request, Upgrading, avs_maintenance::AvsMaintenance, is_announced, is_no_dry_run,
        send_notification::SendNotification,
    },
    systems::{System, Systems},
};
use crate::Order;

/// An upgrade of a runtime's cluster.
pub struct UpgradingCluster;

impl Operation for UpgradingCluster {
    const KIND: &'static str = "upgradeCluster";
    type Input = Input;
    type Data = Data;
    type Memory = ();
    type Env = Env;
}

impl Upgrading for UpgradingCluster {
    const EVENT: EventType = EventType::Cluster;

    fn request(input: &Input) -> Request {
        let Input { orchestration, dry_run, notify, .. } = *input;
        Request { orchestration, dry_run, notify }
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
    /// The version of Kubernetes; the catalog's without.
    #[serde(default)]
    pub kubernetes_version: Option<String>,
    /// The machine image; the catalog's without.
    #[serde(default)]
    pub machine_image: Option<String>,
    /// The version of the machine image; the catalog's without.
    #[serde(default)]
    pub machine_image_version: Option<String>,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpgradeClusterLimits {
    /// The whole operation.
    pub operation: Duration,
    /// The provisioner, with one upgrade.
    pub runtime: Duration,
}

impl Default for UpgradeClusterLimits {
    fn default() -> Self {
        Self { operation: Duration::from_hours(4), runtime: Duration::from_hours(3) }
    }
}

/// The plan for an upgrade of a cluster.
pub fn plan(limits: &UpgradeClusterLimits, systems: Systems) -> Plan<UpgradingCluster> {
    Plan::within(limits.operation)
        .reaching(systems.iter())
        .stage("upgrade")
        .step(upgrade_cluster_initialisation::UpgradeClusterInitialisation.weight(1))
        .step(
            check_runtime::CheckRuntime
                .weight(1)
                .waiting_for(limits.runtime)
                .failing_for(limits.runtime),
        )
        .step(
            <SendNotification as Step<UpgradingCluster>>::weight(SendNotification, 10)
                .when(is_announced())
                .when(is_no_dry_run())
                .needs(System::Spc)
                .or_skip(),
        )
        .step(
            <AvsMaintenance as Step<UpgradingCluster>>::weight(AvsMaintenance, 10)
                .when(is_no_dry_run())
                .needs(System::Avs),
        )
        .step(upgrade_cluster::UpgradeCluster.weight(10))
}

#[cfg(test)]
mod tests;
