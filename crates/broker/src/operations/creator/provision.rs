//! Requests to the provisioner, field by field.

use clients::provisioner::{
    AwsProvider, AwsZone, AzureProvider, AzureZone, Cluster, Dns, DnsProvider, GcpProvider, Oidc,
    OpenStackProvider, Provider as ProviderConfig, Provision, RuntimeInput, ShootChange,
    UpgradeShoot,
};
use domain::{
    parameters::{Cluster as Resolved, Zone},
    plan::Provider,
};

use super::{Creator, CreatorError};
use crate::Order;

/// The values of a runtime that are known only when it is ordered.
#[derive(Debug, Clone, Copy)]
pub struct ProvisionTarget<'a> {
    /// The runtime's name in the Director.
    pub name: &'a str,
    /// The account that pays.
    pub target_secret: &'a str,
    /// DNS providers of the cluster's domain.
    pub dns_providers: &'a [DnsProvider],
}

impl Creator {
    /// The order for the provisioner, without Kyma in it.
    pub fn provision(
        &self,
        order: &Order,
        place: ProvisionTarget<'_>,
    ) -> Result<Provision, CreatorError> {
        let resolved = order.resolved.cluster.as_ref().ok_or(CreatorError::NoCluster)?;
        let labels = self.labels.iter().map(|(key, value)| (key.clone(), value.clone().into()));
        let runtime_input = RuntimeInput {
            name: place.name.to_owned(),
            description: None,
            labels: labels.collect(),
        };
        let cluster = cluster(order, resolved, place)?;
        let administrators = order.resolved.administrators.clone();
        Ok(Provision { runtime_input, cluster: (cluster, administrators), kyma: None })
    }
}

fn cluster(
    order: &Order,
    resolved: &Resolved,
    place: ProvisionTarget<'_>,
) -> Result<Cluster, CreatorError> {
    if place.target_secret.is_empty() {
        return Err(CreatorError::Missing("the account that pays"));
    }
    Ok(Cluster {
        name: order.shoot_name.clone(),
        provider: resolved.provider.as_str().to_owned(),
        target_secret: place.target_secret.to_owned(),
        region: resolved.region.clone(),
        worker_cidr: resolved.worker_cidr.clone(),
        provider_config: provider_config(resolved)?,
        kubernetes_version: Some(resolved.kubernetes_version.clone()),
        machine_type: Some(resolved.machine_type.clone()),
        machine_image: resolved.machine_image.clone(),
        machine_image_version: resolved.machine_image_version.clone(),
        disk_type: resolved.disk_type.clone(),
        volume_size_gb: resolved.volume_size_gb.map(number),
        auto_scaler_min: Some(number(resolved.auto_scaler_min)),
        auto_scaler_max: Some(number(resolved.auto_scaler_max)),
        max_surge: Some(number(resolved.max_surge)),
        max_unavailable: Some(number(resolved.max_unavailable)),
        purpose: Some(resolved.purpose.clone()),
        licence_type: order.resolved.licence_type.clone(),
        enable_kubernetes_version_auto_update: Some(resolved.kubernetes_auto_update),
        enable_machine_image_version_auto_update: Some(resolved.machine_image_auto_update),
        dns_config: Some(Dns {
            domain: order.shoot_domain.clone(),
            providers: place.dns_providers.to_vec(),
        }),
        seed: None,
        oidc_config: Some(oidc(resolved)),
        exposure_class_name: resolved.exposure_class.clone(),
        shoot_networking_filter_disabled: Some(order.resolved.network_filter_disabled),
        control_plane_failure_tolerance: resolved.failure_tolerance.clone(),
        eu_access: Some(order.resolved.eu_access),
    })
}

/// What the provisioner is asked for when a cluster that is there shall be as it is ordered now. All of it, not only what was just
/// said: an earlier change may have got half-way. The purpose changes with the plan alone.
pub fn change(order: &Order, changes_plan: bool) -> Result<UpgradeShoot, CreatorError> {
    let resolved = order.resolved.cluster.as_ref().ok_or(CreatorError::NoCluster)?;
    let cluster = ShootChange {
        machine_type: Some(resolved.machine_type.clone()),
        auto_scaler_min: Some(number(resolved.auto_scaler_min)),
        auto_scaler_max: Some(number(resolved.auto_scaler_max)),
        max_surge: Some(number(resolved.max_surge)),
        max_unavailable: Some(number(resolved.max_unavailable)),
        purpose: changes_plan.then(|| resolved.purpose.clone()),
        oidc_config: Some(oidc(resolved)),
        shoot_networking_filter_disabled: Some(order.resolved.network_filter_disabled),
        ..ShootChange::default()
    };
    Ok(UpgradeShoot { cluster, administrators: order.resolved.administrators.clone() })
}

/// What the provisioner is asked for when a cluster that is there shall have the versions that its order says, and nothing else that
/// nodes are replaced for.
pub fn upgrade(order: &Order) -> Result<UpgradeShoot, CreatorError> {
    let resolved = order.resolved.cluster.as_ref().ok_or(CreatorError::NoCluster)?;
    let cluster = ShootChange {
        kubernetes_version: Some(resolved.kubernetes_version.clone()),
        machine_image: resolved.machine_image.clone(),
        machine_image_version: resolved.machine_image_version.clone(),
        max_surge: Some(number(resolved.max_surge)),
        max_unavailable: Some(number(resolved.max_unavailable)),
        enable_kubernetes_version_auto_update: Some(resolved.kubernetes_auto_update),
        enable_machine_image_version_auto_update: Some(resolved.machine_image_auto_update),
        oidc_config: Some(oidc(resolved)),
        shoot_networking_filter_disabled: Some(order.resolved.network_filter_disabled),
        ..ShootChange::default()
    };
    Ok(UpgradeShoot { cluster, administrators: order.resolved.administrators.clone() })
}

fn oidc(resolved: &Resolved) -> Oidc {
    let oidc = resolved.oidc.clone();
    Oidc {
        client_id: oidc.client_id,
        groups_claim: oidc.groups_claim,
        issuer_url: oidc.issuer_url,
        signing_algs: oidc.signing_algs,
        username_claim: oidc.username_claim,
        username_prefix: oidc.username_prefix,
    }
}

fn provider_config(resolved: &Resolved) -> Result<ProviderConfig, CreatorError> {
    let network = || {
        let cidr = resolved.network_cidr.clone();
        cidr.ok_or(CreatorError::Missing("the network around the nodes"))
    };
    let zones = resolved.zones.iter();
    let names = || resolved.zones.iter().map(|zone| zone.name.clone()).collect();
    Ok(match resolved.provider {
        Provider::Aws => ProviderConfig::Aws(AwsProvider {
            vpc_cidr: network()?,
            aws_zones: zones.map(aws_zone).collect::<Result<_, _>>()?,
        }),
        Provider::Azure => {
            let divided = resolved.zones.iter().any(|zone| zone.subnets.is_some());
            let divided = divided.then(|| zones.map(azure_zone).collect::<Result<_, _>>());
            ProviderConfig::Azure(AzureProvider {
                vnet_cidr: network()?,
                zones: divided.is_none().then(names),
                azure_zones: divided.transpose()?,
                enable_nat_gateway: resolved.nat_gateway,
                idle_connection_timeout_minutes: None,
            })
        }
        Provider::Gcp => ProviderConfig::Gcp(GcpProvider { zones: names() }),
        Provider::Openstack => ProviderConfig::OpenStack(OpenStackProvider {
            zones: names(),
            floating_pool_name: resolved.floating_pool.clone(),
            cloud_profile_name: resolved.cloud_profile.clone(),
            load_balancer_provider: resolved.load_balancer_provider.clone().unwrap_or_default(),
        }),
    })
}

fn aws_zone(zone: &Zone) -> Result<AwsZone, CreatorError> {
    let networks = || CreatorError::Networks(zone.name.clone());
    let subnets = zone.subnets.clone().ok_or_else(networks)?;
    Ok(AwsZone {
        name: zone.name.clone(),
        public_cidr: subnets.public.ok_or_else(networks)?,
        internal_cidr: subnets.internal.ok_or_else(networks)?,
        worker_cidr: subnets.workers,
    })
}

fn azure_zone(zone: &Zone) -> Result<AzureZone, CreatorError> {
    let subnets = zone.subnets.clone();
    let subnets = subnets.ok_or_else(|| CreatorError::Networks(zone.name.clone()))?;
    let name = zone.name.parse().map_err(|_| CreatorError::Zone(zone.name.clone()))?;
    Ok(AzureZone { name, cidr: subnets.workers })
}

/// The API has signed numbers; the catalog keeps all of them far below.
fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
