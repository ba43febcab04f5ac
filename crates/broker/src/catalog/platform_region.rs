//! From where an order comes: the platform's region and what follows from it.

use domain::plan::Provider;
use serde::{Deserialize, Serialize};

use super::Catalog;

/// A platform's region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlatformRegion {
    pub platform_region: String,
    /// The platform's provider, as far as the address says.
    pub provider: Option<Provider>,
    /// Whether data and operators must stay in the EU.
    pub eu_access: bool,
}

impl PlatformRegion {
    /// The platform's provider as it is reported: `AWS`, or `unknown`.
    pub fn provider_word(&self) -> &'static str {
        self.provider.map_or("unknown", Provider::label)
    }
}

impl Catalog {
    /// The regions of platforms that there are; none when nobody listed them.
    pub(super) fn platform_regions(&self) -> impl Iterator<Item = &str> {
        let regions = &self.regions;
        let trial = regions.trial.platform_regions.keys();
        let listed = regions.platforms.iter().chain(trial).chain(&self.eu_access.regions);
        listed.chain([&regions.default]).map(String::as_str)
    }

    /// Whether a platform's region exists, as far as regions are listed.
    pub(super) fn knows_platform_region(&self, region: &str) -> bool {
        self.regions.platforms.is_empty() || self.platform_regions().any(|known| known == region)
    }

    /// The place that a request's address names. The default region stands in for its name only: it does not say whose
    /// machines the platform runs on.
    pub fn place(&self, region: Option<&str>) -> PlatformRegion {
        let given = region.filter(|region| !region.is_empty());
        let platform_region = given.unwrap_or(&self.regions.default).to_owned();
        let digit = given.and_then(|region| region.chars().find(char::is_ascii_digit));
        PlatformRegion {
            provider: digit.and_then(|digit| self.regions.providers_by_digit.get(&digit).copied()),
            eu_access: self.eu_access.regions.contains(&platform_region),
            platform_region,
        }
    }
}
