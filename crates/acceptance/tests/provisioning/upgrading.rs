//! Upgrades of runtimes that work, from acceptance to an upgraded runtime after the end of its maintenance.

mod announced;
mod closing;
mod cluster;
mod generated;
mod kyma;
mod maintenance;
mod renewing;
mod retried;
mod table;
mod trying;
pub(crate) mod views;

use broker::{
    Order,
    operations::{upgrade_cluster, upgrade_kyma},
};
use uuid::Uuid;

pub(crate) const KYMA: &str = "2.11.0";
pub(crate) const KUBERNETES: &str = "1.33.2";
const ORCHESTRATION: Uuid = Uuid::from_u128(0x0bce);

/// An upgrade of Kyma that customers are told of.
pub(crate) fn kyma(order: Order) -> upgrade_kyma::Input {
    upgrade_kyma::Input {
        order,
        orchestration: Some(ORCHESTRATION),
        dry_run: false,
        notify: true,
        version: Some(KYMA.into()),
    }
}

/// An upgrade of the cluster that customers are told of.
pub(crate) fn cluster(order: Order) -> upgrade_cluster::Input {
    upgrade_cluster::Input {
        order,
        orchestration: Some(ORCHESTRATION),
        dry_run: false,
        notify: true,
        kubernetes_version: Some(KUBERNETES.into()),
        machine_image: None,
        machine_image_version: None,
    }
}
