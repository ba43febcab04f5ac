//! The settings of a cluster.

use async_graphql::SimpleObject;
use provisioner::configuration::{Cluster, Dns, DnsProvider, Oidc};

use super::provider::ProviderSpecificConfig;

/// A cluster that Gardener made.
#[derive(SimpleObject)]
pub(super) struct GardenerConfig {
    name: Option<String>,
    kubernetes_version: Option<String>,
    target_secret: Option<String>,
    provider: Option<String>,
    region: Option<String>,
    seed: Option<String>,
    machine_type: Option<String>,
    machine_image: Option<String>,
    machine_image_version: Option<String>,
    disk_type: Option<String>,
    #[graphql(name = "volumeSizeGB")]
    volume_size_gb: Option<i32>,
    worker_cidr: Option<String>,
    pods_cidr: Option<String>,
    services_cidr: Option<String>,
    auto_scaler_min: Option<i32>,
    auto_scaler_max: Option<i32>,
    max_surge: Option<i32>,
    max_unavailable: Option<i32>,
    purpose: Option<String>,
    licence_type: Option<String>,
    enable_kubernetes_version_auto_update: Option<bool>,
    enable_machine_image_version_auto_update: Option<bool>,
    /// Always null.
    allow_privileged_containers: Option<bool>,
    provider_specific_config: Option<ProviderSpecificConfig>,
    dns_config: Option<DnsConfig>,
    /// Empty texts when there is none.
    oidc_config: Option<Oidc>,
    exposure_class_name: Option<String>,
    shoot_networking_filter_disabled: Option<bool>,
    control_plane_failure_tolerance: Option<String>,
    eu_access: Option<bool>,
}

#[derive(SimpleObject)]
#[graphql(name = "DNSConfig")]
struct DnsConfig {
    domain: String,
    providers: Option<Vec<Option<DnsProvider>>>,
}

impl From<Cluster> for GardenerConfig {
    fn from(cluster: Cluster) -> Self {
        Self {
            name: Some(cluster.name),
            kubernetes_version: Some(cluster.kubernetes_version),
            target_secret: Some(cluster.target_secret),
            provider: Some(cluster.provider),
            region: Some(cluster.region),
            seed: cluster.seed,
            machine_type: Some(cluster.machine_type),
            machine_image: cluster.machine_image,
            machine_image_version: cluster.machine_image_version,
            disk_type: cluster.disk_type,
            volume_size_gb: cluster.volume_size_gb,
            worker_cidr: Some(cluster.worker_cidr),
            pods_cidr: cluster.pods_cidr,
            services_cidr: cluster.services_cidr,
            auto_scaler_min: Some(cluster.auto_scaler_min),
            auto_scaler_max: Some(cluster.auto_scaler_max),
            max_surge: Some(cluster.max_surge),
            max_unavailable: Some(cluster.max_unavailable),
            purpose: cluster.purpose,
            licence_type: cluster.licence_type,
            enable_kubernetes_version_auto_update: Some(cluster.kubernetes_auto_update),
            enable_machine_image_version_auto_update: Some(cluster.machine_image_auto_update),
            allow_privileged_containers: None,
            provider_specific_config: Some(cluster.provider_config.into()),
            dns_config: cluster.dns.map(Into::into),
            oidc_config: Some(cluster.oidc.unwrap_or_default()),
            exposure_class_name: cluster.exposure_class_name,
            shoot_networking_filter_disabled: Some(cluster.networking_filter_disabled),
            control_plane_failure_tolerance: cluster.control_plane_failure_tolerance,
            eu_access: Some(cluster.eu_access),
        }
    }
}

impl From<Dns> for DnsConfig {
    fn from(dns: Dns) -> Self {
        let providers = dns.providers.into_iter().map(Some);
        Self { domain: dns.domain, providers: Some(providers.collect()) }
    }
}
