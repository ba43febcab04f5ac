//! Resolves an accepted order: defaults of the plan, then the order's own values, then the rules of regions and zones.

mod network;
mod region;

use std::collections::HashSet;

use domain::{
    parameters::{Cluster, Oidc, Provisioning, ResolvedOrder},
    plan::{Kind, Provider},
};

use super::{Catalog, Plan, PlatformRegion, Refusal, data::ClusterData};

/// Gardener's purposes of clusters.
pub(super) const PURPOSES: [&str; 5] =
    ["evaluation", "testing", "development", "production", "infrastructure"];

/// Licences under which a cluster may reach any address.
const UNFILTERED_LICENCES: [&str; 3] = ["CUSTOMER", "PARTNER", "TRIAL"];

/// The orderer, from the context of the order.
#[derive(Debug, Clone, Copy)]
pub struct Orderer<'a> {
    /// Administers the cluster unless the order says otherwise.
    pub user_id: &'a str,
    /// The licence of the customer.
    pub license_type: Option<&'a str>,
}

impl Catalog {
    /// Everything about a runtime that is known before any outside system is asked. The zones are drawn from `random`.
    pub fn resolve(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        parameters: &Provisioning,
        orderer: &Orderer<'_>,
        random: [u8; 16],
    ) -> Result<ResolvedOrder, Refusal> {
        let provider = self.provider(plan, place, parameters)?;
        let cluster = provider.and_then(|provider| {
            let data = plan.cluster(provider)?;
            Some(self.cluster(plan, place, provider, data, parameters, random))
        });
        let named = parameters.administrators.clone().filter(|named| !named.is_empty());
        let administrators = match named {
            Some(named) => once_each(named),
            // Customers who bring their own cluster are its administrators already.
            None if plan.kind() == Kind::OwnCluster => Vec::new(),
            None => vec![orderer.user_id.to_lowercase()],
        };
        Ok(ResolvedOrder {
            platform_region: place.platform_region.clone(),
            eu_access: place.eu_access,
            profile: plan.profile(),
            licence_type: plan.licence_type().map(str::to_owned),
            administrators,
            network_filter_disabled: orderer.license_type.is_some_and(is_unfiltered),
            cluster,
        })
    }

    fn cluster(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        provider: Provider,
        data: &ClusterData,
        parameters: &Provisioning,
        random: [u8; 16],
    ) -> Cluster {
        let defaults = &self.defaults;
        let nodes = self.nodes(plan, Some(provider));
        let count = |asked: Option<i64>, default: u32| {
            asked.and_then(|asked| u32::try_from(asked).ok()).unwrap_or(default)
        };
        let region = self.region(plan, place, provider, data, parameters);
        Cluster {
            provider,
            zones: self.zones_of(place, provider, data, parameters, &region, random),
            region,
            machine_type: given_or(parameters.machine_type.as_ref(), &data.machine_type.value),
            disk_type: data.disk_type.clone(),
            volume_size_gb: data
                .volume_size_gb
                .map(|size| parameters.volume_size_gb.unwrap_or(size)),
            auto_scaler_min: count(parameters.auto_scaler_min, nodes.min),
            auto_scaler_max: count(parameters.auto_scaler_max, nodes.max),
            max_surge: parameters.max_surge.unwrap_or(1),
            max_unavailable: parameters.max_unavailable.unwrap_or(0),
            worker_cidr: data.worker_cidr.value.clone(),
            network_cidr: data.network_cidr.as_ref().map(|cidr| cidr.value.clone()),
            nat_gateway: data.nat_gateway,
            purpose: given_or(
                parameters.purpose.as_ref(),
                data.purpose.as_ref().unwrap_or(&defaults.purpose),
            ),
            kubernetes_version: defaults.kubernetes_version.clone(),
            kubernetes_auto_update: defaults.kubernetes_auto_update,
            machine_image: defaults.machine_image.clone(),
            machine_image_version: defaults.machine_image_version.clone(),
            machine_image_auto_update: defaults.machine_image_auto_update,
            failure_tolerance: defaults
                .failure_tolerance
                .clone()
                .filter(|_| data.failure_tolerance),
            exposure_class: data.exposure_class.clone(),
            cloud_profile: data.cloud_profile.clone(),
            load_balancer_provider: data.load_balancer_provider.clone(),
            floating_pool: defaults
                .openstack_floating_pool
                .clone()
                .filter(|_| provider == Provider::Openstack),
            target_secret: parameters.target_secret.clone().filter(|secret| !secret.is_empty()),
            oidc: self.issuer(parameters.oidc.as_ref()),
        }
    }

    /// The issuer that an order names, its gaps filled, or the usual one.
    pub fn issuer(&self, asked: Option<&Oidc>) -> Oidc {
        let usual = &self.defaults.oidc;
        asked.filter(|oidc| oidc.is_provided()).unwrap_or(usual).over(usual)
    }
}

/// Whether a cluster under this licence may reach any address.
pub(super) fn is_unfiltered(licence: &str) -> bool {
    UNFILTERED_LICENCES.contains(&licence)
}

/// Without those that were named before.
pub(super) fn once_each(mut named: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    named.retain(|person| seen.insert(person.clone()));
    named
}

fn given_or(asked: Option<&String>, default: &str) -> String {
    asked.filter(|asked| !asked.is_empty()).map_or_else(|| default.to_owned(), Clone::clone)
}
