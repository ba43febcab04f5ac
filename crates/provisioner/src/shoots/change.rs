//! What has to be changed in a live Shoot, and nothing else.
//!
//! What a reader would get wrong: a merge patch replaces lists whole, so lists are taken from the live Shoot and
//! edited; other pools, other extensions and what others set in ours are still there afterwards.

use clients::gardener::Shoot;
use serde_json::{Value, json};

use super::{
    azure, extensions, gcp,
    json::{at, difference},
    kubernetes, maintenance, pool, versions,
};
use crate::configuration::{Cluster, Configuration, Provider};

/// A merge patch that brings a live Shoot to the configuration; nothing when it is there already. It holds only
/// what upgradeShoot may change, and machines only of the first pool.
pub fn change(live: &Shoot, wanted: &Configuration) -> Option<Value> {
    let before = serde_json::to_value(&live.spec).expect("text keys and JSON values make JSON");
    let mut spec = before.clone();
    edit(&mut spec, &wanted.cluster);
    difference(&before, &spec).map(|spec| json!({"spec": spec}))
}

/// Leaves a cluster the versions that its Shoot has by now, where those are higher: Gardener raises versions by itself,
/// and they do not go back.
pub fn keep_higher_versions(live: &Shoot, wanted: &mut Cluster) {
    let version = live.spec.kubernetes.as_ref().and_then(|section| section.version.as_ref());
    if let Some(version) = version
        && versions::is_lower(&wanted.kubernetes_version, version)
    {
        wanted.kubernetes_version.clone_from(version);
    }
    let pool = live.spec.provider.as_ref().and_then(|provider| provider.workers.first());
    let Some(image) = pool.map(|pool| &pool["machine"]["image"]) else { return };
    let same = wanted.machine_image.as_ref().is_none_or(|name| image["name"] == json!(name));
    if let (Some(version), Some(there)) =
        (&mut wanted.machine_image_version, image["version"].as_str())
        && same
        && versions::is_lower(version, there)
    {
        there.clone_into(version);
    }
}

fn edit(spec: &mut Value, wanted: &Cluster) {
    kubernetes::change(at(spec, &["kubernetes"]), wanted);
    maintenance::set_auto_update(at(spec, &["maintenance"]), wanted);
    extensions::set_filter(at(spec, &["extensions"]), wanted.networking_filter_disabled);
    if let Some(purpose) = &wanted.purpose {
        *at(spec, &["purpose"]) = json!(purpose);
    }
    let zones = edit_infrastructure(spec, wanted);
    if let Some(first) = first_pool(spec) {
        pool::change(first, wanted);
        pool::add_zones(first, &zones);
    }
}

/// Also says which zones there should be in the pool at least.
fn edit_infrastructure(spec: &mut Value, cluster: &Cluster) -> Vec<String> {
    match &cluster.provider_config {
        Provider::Gcp(gcp) => {
            gcp::change(spec, &cluster.worker_cidr);
            gcp.zones.clone()
        }
        Provider::Azure(wanted) => match spec.pointer_mut("/provider/infrastructureConfig") {
            Some(infrastructure) => {
                azure::change(infrastructure, wanted);
                azure::zones(infrastructure, wanted)
            }
            None => vec![],
        },
        Provider::Aws(_) | Provider::OpenStack(_) => vec![],
    }
}

fn first_pool(spec: &mut Value) -> Option<&mut Value> {
    spec.pointer_mut("/provider/workers/0")
}
