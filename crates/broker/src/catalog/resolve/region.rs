//! In which region a cluster is made.

use domain::{
    parameters::Provisioning,
    plan::{Kind, Provider},
};

use crate::catalog::{
    Catalog, Plan, PlatformRegion,
    data::{ClusterData, EuRule},
};

impl Catalog {
    /// The region of an order's cluster.
    pub(in crate::catalog) fn region(
        &self,
        plan: &Plan,
        place: &PlatformRegion,
        provider: Provider,
        cluster: &ClusterData,
        parameters: &Provisioning,
    ) -> String {
        let asked = parameters.region.as_ref().filter(|region| !region.is_empty());
        let zones = parameters.zones.as_ref().is_some_and(|zones| !zones.is_empty());
        let chosen = asked.is_some() || (zones && cluster.zones.value.chosen);
        let in_eu = place.eu_access
            && match cluster.eu_access {
                EuRule::Forced => true,
                EuRule::UnlessChosen => !chosen,
                EuRule::Free => false,
            };
        if in_eu && let Some(region) = self.eu_access.cluster_regions.get(&provider) {
            return region.value.clone();
        }
        let default = &cluster.region.value;
        if plan.kind() == Kind::Trial {
            let platform = self.regions.trial.platform_regions.get(&place.platform_region);
            let area = asked.or(platform.map(|area| &area.value));
            return area.and_then(|area| self.area(area, provider)).unwrap_or(default).clone();
        }
        asked.unwrap_or(default).clone()
    }

    /// The provider's region in a part of the world.
    fn area(&self, area: &str, provider: Provider) -> Option<&String> {
        self.regions.trial.areas.get(area)?.get(&provider).map(|region| &region.value)
    }
}
