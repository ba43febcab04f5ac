//! The minimal patch of a live Shoot.
//!
//! What a reader would get wrong: a merge patch replaces lists whole, so lists are taken from the live Shoot and
//! edited; other pools, other extensions and what others set in ours are still there afterwards.

use clients::gardener::{Features, Shoot};
use serde_json::{Value, json};

use super::{
    azure,
    dialect::{Dialect, crosses_new_names},
    extensions, gcp,
    json::{at, difference},
    kubernetes, maintenance, pool,
    versions::{self, Version},
};
use crate::configuration::{Cluster, Configuration, Provider};

/// A merge patch that brings a live Shoot to the configuration; nothing when it is there already. It holds only
/// what upgradeShoot may change, and machines only of the first pool.
pub fn change(
    live: &Shoot,
    wanted: &Configuration,
    runtime: &str,
    features: &Features,
) -> Option<Value> {
    let before = serde_json::to_value(&live.spec).expect("text keys and JSON values make JSON");
    let mut spec = before.clone();
    let version = live.spec.kubernetes.as_ref().and_then(|live| live.version.as_deref());
    let dialect = Dialect::of_change(features, version, &wanted.cluster.kubernetes_version);
    if dialect.new_names {
        rename(&mut spec, &wanted.cluster);
    }
    edit(&mut spec, &wanted.cluster, dialect, runtime);
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

/// Gives profile and account their newer names. Gardener keeps the older name of the profile beside the newer one, so
/// it is taken away only when the newer one comes, or with the version that forbids the older one.
fn rename(spec: &mut Value, wanted: &Cluster) {
    let version = |text: &Value| text.as_str().and_then(Version::parse);
    let live = version(&spec["kubernetes"]["version"]);
    let next = live.max(Version::parse(&wanted.kubernetes_version));
    let text =
        |spec: &Value, key: &str| spec[key].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    let without = |spec: &mut Value, key: &str| {
        if let Some(fields) = spec.as_object_mut() {
            fields.shift_remove(key);
        }
    };
    let profile = text(spec, "cloudProfileName");
    if let Some(name) =
        profile.filter(|_| spec["cloudProfile"].is_null() || crosses_new_names(live, next))
    {
        if spec["cloudProfile"].is_null() {
            spec["cloudProfile"] = super::cloud_profile(&name);
        }
        without(spec, "cloudProfileName");
    }
    if let Some(name) = text(spec, "secretBindingName") {
        spec["credentialsBindingName"] = json!(name);
        without(spec, "secretBindingName");
    }
}

fn edit(spec: &mut Value, wanted: &Cluster, dialect: Dialect, runtime: &str) {
    kubernetes::change(at(spec, &["kubernetes"]), wanted, dialect, runtime);
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
