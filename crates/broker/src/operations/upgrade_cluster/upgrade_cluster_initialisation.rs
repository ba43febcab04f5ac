//! Reads the instance, and works out which Kubernetes and which machine image its cluster gets.

use domain::plan::Kind;
use engine::finish;

use super::{Input, UpgradingCluster};
use crate::{
    Order,
    catalog::Defaults,
    operations::{prelude::*, shared::upgrading},
};

pub(super) struct UpgradeClusterInitialisation;

impl Step<UpgradingCluster> for UpgradeClusterInitialisation {
    const NAME: &'static str = "Upgrade_Cluster_Initialisation";
    const RETRY: Retry = Retry::DEFAULT
        .polling(millis(500), secs(15))
        .closely()
        .waiting_for(mins(30))
        .backing_off(secs(2), secs(30))
        .failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, UpgradingCluster>) -> StepResult {
        let is_read = cx.data.order.is_some();
        if let Some(waits) = upgrading::begin(cx).await? {
            return waits.into();
        }
        // Kept from then on: every run orders the same, even when the catalog has changed.
        if let Some(order) = cx.data.order.as_mut().filter(|_| !is_read) {
            upgrade(order, cx.input, cx.env.catalog.defaults());
        }
        match upgrading::order(cx)?.plan_kind {
            Kind::OwnCluster => {
                finish("the cluster is its owner's, so there is nothing to upgrade")
            }
            _ => done(),
        }
    }
}

/// Puts the versions into the order: the requested ones, or the current defaults.
fn upgrade(order: &mut Order, asked: &Input, defaults: &Defaults) {
    let Some(cluster) = &mut order.resolved.cluster else { return };
    let said = |asked: &Option<String>| asked.clone().filter(|asked| !asked.is_empty());
    cluster.kubernetes_version =
        said(&asked.kubernetes_version).unwrap_or_else(|| defaults.kubernetes_version.clone());
    let (image, version) = (said(&asked.machine_image), said(&asked.machine_image_version));
    match (image, version) {
        (None, None) => {
            cluster.machine_image.clone_from(&defaults.machine_image);
            cluster.machine_image_version.clone_from(&defaults.machine_image_version);
        }
        // A version is one of its image.
        (Some(image), version) => {
            cluster.machine_image = Some(image);
            cluster.machine_image_version = version;
        }
        (None, version) => cluster.machine_image_version = version,
    }
    cluster.kubernetes_auto_update = defaults.kubernetes_auto_update;
    cluster.machine_image_auto_update = defaults.machine_image_auto_update;
}
