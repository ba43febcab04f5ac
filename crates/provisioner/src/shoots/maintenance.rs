//! Maintenance by Gardener, and its window.

use serde_json::{Value, json};

use super::{Rules, json::at};
use crate::configuration::Cluster;

/// Maintenance of a new Shoot: production clusters in the region's window, all others when Gardener likes.
pub(super) fn section(cluster: &Cluster, rules: &Rules) -> Value {
    let mut maintenance = json!({});
    set_auto_update(&mut maintenance, cluster);
    if cluster.purpose.as_deref() != Some("production") {
        return maintenance;
    }
    let window = rules.maintenance_windows.get(&cluster.region);
    if let Some(window) = window.filter(|window| !window.begin.is_empty() && !window.end.is_empty())
    {
        maintenance["timeWindow"] = json!({"begin": window.begin, "end": window.end});
    }
    maintenance
}

/// Says which versions Gardener may raise by itself.
pub(super) fn set_auto_update(maintenance: &mut Value, cluster: &Cluster) {
    let update = at(maintenance, &["autoUpdate"]);
    *at(update, &["kubernetesVersion"]) = json!(cluster.kubernetes_auto_update);
    *at(update, &["machineImageVersion"]) = json!(cluster.machine_image_auto_update);
}
