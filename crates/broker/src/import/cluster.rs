//! The cluster as it was built: what the original sent for it, put together.
//!
//! What a reader would get wrong: a change sends only what changes, with zeros and empty texts for the rest. And what an operation
//! sent that failed is not what the cluster has.

use domain::{
    parameters::{Cluster, Oidc, Provisioning, Subnets, Zone},
    plan::Provider,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use store::import::{KebInstance, KebOperation};

use super::details::words;

/// The cluster fields that were sent, as far as the order keeps them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentCluster {
    region: Option<String>,
    machine_type: Option<String>,
    machine_image: Option<String>,
    machine_image_version: Option<String>,
    disk_type: Option<String>,
    #[serde(rename = "volumeSizeGB")]
    volume_size_gb: Option<u32>,
    worker_cidr: Option<String>,
    auto_scaler_min: Option<u32>,
    auto_scaler_max: Option<u32>,
    max_surge: Option<u32>,
    max_unavailable: Option<u32>,
    purpose: Option<String>,
    kubernetes_version: Option<String>,
    exposure_class_name: Option<String>,
    control_plane_failure_tolerance: Option<String>,
    oidc_config: Option<Oidc>,
    provider_specific_config: Option<Value>,
}

/// Everything that was sent for an instance's cluster and took effect; none when it was never ordered.
pub(super) fn sent(row: &KebInstance, operations: &[KebOperation]) -> Option<Map<String, Value>> {
    let took_effect = |id: &str| {
        let by = operations.iter().find(|operation| operation.id == id);
        by.is_none_or(|by| by.kind == "provision" || by.state == "succeeded")
    };
    let mut merged: Option<Map<String, Value>> = None;
    for config in row.configs.iter().filter(|config| took_effect(&config.operation_id)) {
        let Some(fields) = config.cluster_config.as_object() else { continue };
        if words(&config.cluster_config["region"]).is_some() {
            merged = Some(fields.clone());
        } else if let Some(merged) = &mut merged {
            let said = fields.iter().filter(|(_, value)| says_something(value));
            merged.extend(said.map(|(name, value)| (name.clone(), value.clone())));
        }
    }
    merged
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        _ => true,
    }
}

/// Puts what was sent, and what was ordered since, over what the catalog says.
pub(super) fn as_built(cluster: &mut Cluster, sent: &Map<String, Value>, ordered: &Provisioning) {
    let sent: SentCluster = serde_json::from_value(sent.clone().into()).unwrap_or_default();
    let said = |text: Option<String>| text.filter(|text| !text.is_empty());
    let provider = cluster.provider;
    if let Some((zones, network)) =
        sent.provider_specific_config.and_then(|it| zones(provider, &it))
    {
        // A region without its zones would be of no use to the next cluster.
        cluster.zones = zones;
        cluster.network_cidr = network.or(cluster.network_cidr.take());
        cluster.region = said(sent.region).unwrap_or_else(|| cluster.region.clone());
        cluster.worker_cidr = said(sent.worker_cidr).unwrap_or_else(|| cluster.worker_cidr.clone());
    }
    for (field, text) in [
        (&mut cluster.machine_type, sent.machine_type),
        (&mut cluster.purpose, sent.purpose),
        (&mut cluster.kubernetes_version, sent.kubernetes_version),
    ] {
        if let Some(text) = said(text) {
            *field = text;
        }
    }
    for (field, text) in [
        (&mut cluster.machine_image, sent.machine_image),
        (&mut cluster.machine_image_version, sent.machine_image_version),
        (&mut cluster.disk_type, sent.disk_type),
        (&mut cluster.exposure_class, sent.exposure_class_name),
        (&mut cluster.failure_tolerance, sent.control_plane_failure_tolerance),
    ] {
        *field = said(text).or(field.take());
    }
    cluster.volume_size_gb = sent.volume_size_gb.or(cluster.volume_size_gb);
    for (field, number) in [
        (&mut cluster.auto_scaler_min, sent.auto_scaler_min),
        (&mut cluster.auto_scaler_max, sent.auto_scaler_max),
        (&mut cluster.max_surge, sent.max_surge),
        (&mut cluster.max_unavailable, sent.max_unavailable),
    ] {
        *field = number.unwrap_or(*field);
    }
    if let Some(oidc) = sent.oidc_config.filter(Oidc::is_provided) {
        cluster.oidc = oidc.over(&cluster.oidc);
    }
    order_over(cluster, ordered);
}

/// The order overrides the rest: updates are kept in it.
fn order_over(cluster: &mut Cluster, ordered: &Provisioning) {
    let count = |said: Option<i64>| said.and_then(|said| u32::try_from(said).ok());
    for (field, number) in [
        (&mut cluster.auto_scaler_min, count(ordered.auto_scaler_min)),
        (&mut cluster.auto_scaler_max, count(ordered.auto_scaler_max)),
        (&mut cluster.max_surge, ordered.max_surge),
        (&mut cluster.max_unavailable, ordered.max_unavailable),
    ] {
        *field = number.unwrap_or(*field);
    }
    if let Some(machine) = ordered.machine_type.as_ref().filter(|it| !it.is_empty()) {
        cluster.machine_type.clone_from(machine);
    }
}

/// The zones of a cluster, and the network around them.
fn zones(provider: Provider, config: &Value) -> Option<(Vec<Zone>, Option<String>)> {
    let plain = |list: &Value| -> Option<Vec<Zone>> {
        let names = list.as_array()?.iter().filter_map(words);
        Some(names.map(|name| Zone { name, subnets: None }).collect())
    };
    match provider {
        Provider::Aws => {
            let config = &config["awsConfig"];
            let zone = |it: &Value| {
                let subnets = Subnets {
                    workers: words(&it["workerCidr"])?,
                    public: words(&it["publicCidr"]),
                    internal: words(&it["internalCidr"]),
                };
                Some(Zone { name: words(&it["name"])?, subnets: Some(subnets) })
            };
            let zones = config["awsZones"].as_array()?.iter().map(zone).collect::<Option<_>>()?;
            Some((zones, words(&config["vpcCidr"])))
        }
        Provider::Azure => {
            let config = &config["azureConfig"];
            let network = words(&config["vnetCidr"]);
            let zone = |it: &Value| {
                let workers = words(&it["cidr"])?;
                let subnets = Subnets { workers, public: None, internal: None };
                Some(Zone { name: it["name"].as_i64()?.to_string(), subnets: Some(subnets) })
            };
            match config["azureZones"].as_array() {
                Some(list) => Some((list.iter().map(zone).collect::<Option<_>>()?, network)),
                None => Some((plain(&config["zones"]).unwrap_or_default(), network)),
            }
        }
        Provider::Gcp => Some((plain(&config["gcpConfig"]["zones"])?, None)),
        Provider::Openstack => Some((plain(&config["openStackConfig"]["zones"])?, None)),
    }
}
