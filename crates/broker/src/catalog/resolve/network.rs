//! Zones and the networks that lie in them.

use domain::{
    parameters::{Provisioning, Subnets, Zone},
    plan::Provider,
};
use uuid::Uuid;

use crate::catalog::{
    Catalog, PlatformRegion,
    data::{ClusterData, EuRule},
    names::draw,
};

impl Catalog {
    pub(in crate::catalog) fn zones_of(
        &self,
        place: &PlatformRegion,
        provider: Provider,
        cluster: &ClusterData,
        parameters: &Provisioning,
        region: &str,
        random: [u8; 16],
    ) -> Vec<Zone> {
        let there = self.zones_in(provider, region);
        let rule = cluster.zones.value;
        let moved = place.eu_access && cluster.eu_access == EuRule::Forced;
        let mut asked = parameters.zones.clone().unwrap_or_default();
        if !rule.chosen || moved {
            asked.clear();
        }
        if provider == Provider::Azure {
            asked.retain(|zone| there.contains(zone));
        }
        if asked.is_empty() {
            let count = rule.multi.filter(|_| self.defaults.multi_zone).unwrap_or(rule.count);
            asked = draw(&there, count, Uuid::from_bytes(random));
        }
        let network = cluster.network_cidr.as_ref().unwrap_or(&cluster.worker_cidr);
        let zone = |(index, name)| Zone { name, subnets: subnets(provider, &network.value, index) };
        asked.into_iter().enumerate().map(zone).collect()
    }

    /// The zones of a region; a region that nobody described has one.
    fn zones_in(&self, provider: Provider, region: &str) -> Vec<String> {
        let Some(data) = self.providers.get(&provider) else { return vec![] };
        let only = vec!["a".to_owned()];
        let zones = data.regions.get(region).map_or(&only, |zones| &zones.value);
        let name = |zone: &String| {
            data.zone_name.value.replace("{region}", region).replace("{zone}", zone)
        };
        zones.iter().map(name).collect()
    }
}

/// The networks of a cluster's n-th zone. AWS gets three per zone and a quarter of the network for them, Azure an eighth;
/// the others cut their networks themselves.
fn subnets(provider: Provider, network: &str, index: usize) -> Option<Subnets> {
    let mut bytes = network.split('.');
    let (first, second) = (bytes.next()?, bytes.next()?);
    let at = |byte: usize, length: u8| format!("{first}.{second}.{byte}.0/{length}");
    match provider {
        Provider::Aws => Some(Subnets {
            workers: at(64 * index, 19),
            public: Some(at(64 * index + 32, 20)),
            internal: Some(at(64 * index + 48, 20)),
        }),
        Provider::Azure => {
            Some(Subnets { workers: at(32 * index, 19), public: None, internal: None })
        }
        Provider::Gcp | Provider::Openstack => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_networks_of_four_zones_fill_the_network_and_do_not_overlap() {
        let workers = |provider, index| {
            subnets(provider, "10.250.0.0/16", index).map(|subnets| subnets.workers)
        };
        let last = subnets(Provider::Aws, "10.250.0.0/16", 3);

        assert_eq!(workers(Provider::Azure, 2).as_deref(), Some("10.250.64.0/19"));
        assert_eq!(workers(Provider::Gcp, 0), None);
        assert_eq!(
            last,
            Some(Subnets {
                workers: "10.250.192.0/19".into(),
                public: Some("10.250.224.0/20".into()),
                internal: Some("10.250.240.0/20".into()),
            })
        );
    }
}
