//! The pool of machines that we make. Others may be added to a Shoot by hand; those are left alone.

use serde_json::{Value, json};

use super::{json::at, versions};
use crate::configuration::Cluster;

/// The name of the one pool that we make.
pub const POOL: &str = "cpu-worker-0";

/// The pool of a new Shoot.
pub(super) fn new(cluster: &Cluster, zones: &[String]) -> Value {
    let mut pool = json!({"name": POOL});
    change(&mut pool, cluster);
    add_zones(&mut pool, zones);
    pool
}

/// Gives a pool the machines that are wanted; its zones stay.
pub(super) fn change(pool: &mut Value, cluster: &Cluster) {
    *at(pool, &["machine", "type"]) = json!(cluster.machine_type);
    set_image(pool, cluster);
    *at(pool, &["minimum"]) = json!(cluster.auto_scaler_min);
    *at(pool, &["maximum"]) = json!(cluster.auto_scaler_max);
    *at(pool, &["maxSurge"]) = json!(cluster.max_surge);
    *at(pool, &["maxUnavailable"]) = json!(cluster.max_unavailable);
    if let (Some(kind), Some(size)) = (&cluster.disk_type, cluster.volume_size_gb) {
        *at(pool, &["volume", "type"]) = json!(kind);
        *at(pool, &["volume", "size"]) = json!(format!("{size}Gi"));
    }
}

/// New zones come last: Gardener lets zones neither go nor change places.
pub(super) fn add_zones(pool: &mut Value, wanted: &[String]) {
    let mut zones = pool["zones"].as_array().cloned().unwrap_or_default();
    for zone in wanted {
        if !zones.iter().any(|other| other == zone) {
            zones.push(json!(zone));
        }
    }
    if !zones.is_empty() {
        *at(pool, &["zones"]) = Value::Array(zones);
    }
}

/// Gardener may have raised the image's version by itself: it does not go back.
fn set_image(pool: &mut Value, cluster: &Cluster) {
    let mut renamed = false;
    if let Some(name) = &cluster.machine_image {
        let live = at(pool, &["machine", "image", "name"]);
        renamed = live != name;
        *live = json!(name);
    }
    if let Some(version) = &cluster.machine_image_version {
        let live = at(pool, &["machine", "image", "version"]);
        let lower = live.as_str().is_some_and(|live| versions::is_lower(version, live));
        if renamed || !lower {
            *live = json!(version);
        }
    }
}
