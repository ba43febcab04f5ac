//! One service plan.

use domain::plan::{Accounts, Kind, Profile, Provider};

use super::{
    PlanLimits, PlatformRegion,
    data::{ClusterData, Nodes, PlanData},
};

/// A plan.
#[derive(Debug, Clone)]
pub struct Plan(PlanData);

impl Plan {
    pub(super) fn new(data: PlanData) -> Self {
        Self(data)
    }

    /// The id that orders name.
    pub fn id(&self) -> &str {
        &self.0.id.value
    }

    pub fn name(&self) -> &str {
        &self.0.name.value
    }

    /// The name that people see.
    pub fn display_name(&self) -> String {
        self.0.display_name.clone().unwrap_or_else(|| self.name().to_uppercase())
    }

    /// A description for people.
    pub fn description(&self) -> String {
        self.0.description.clone().unwrap_or_else(|| self.display_name())
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The provider accounts that it uses.
    pub fn accounts(&self) -> Accounts {
        self.0.accounts
    }

    /// How much Kyma's components get.
    pub fn profile(&self) -> Profile {
        self.0.profile
    }

    /// How its runtimes may be used, when it says so.
    pub fn licence_type(&self) -> Option<&str> {
        self.0.licence_type.as_deref()
    }

    /// How many instances there may be, and for how long.
    pub fn limits(&self) -> &PlanLimits {
        &self.0.limits
    }

    /// Whether its instances can change to a plan.
    pub fn is_upgradable_to(&self, other: &Self) -> bool {
        self.0.upgradable_to.iter().any(|name| name.value == other.name())
    }

    /// Whether its instances can change to any plan.
    pub(super) fn is_upgradable(&self) -> bool {
        !self.0.upgradable_to.is_empty()
    }

    /// The providers it can be had on.
    pub fn providers(&self) -> impl Iterator<Item = Provider> + '_ {
        self.0.clusters.keys().copied()
    }

    pub(super) fn data(&self) -> &PlanData {
        &self.0
    }

    pub(super) fn nodes(&self) -> Option<&Nodes> {
        self.0.nodes.as_ref()
    }

    pub(super) fn cluster(&self, provider: Provider) -> Option<&ClusterData> {
        self.0.clusters.get(&provider)
    }

    /// The provider whose regions and machine types are published for a place: that of the place if the plan has it,
    /// otherwise the plan's first.
    pub(super) fn published(&self, place: &PlatformRegion) -> Option<(Provider, &ClusterData)> {
        let provider = place
            .provider
            .filter(|provider| self.0.clusters.contains_key(provider))
            .or_else(|| self.providers().next())?;
        self.cluster(provider).map(|cluster| (provider, cluster))
    }
}
