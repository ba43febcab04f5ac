//! Which zones of a region have a machine type.

use serde::Deserialize;

use super::Azure;
use crate::error::Error;

const VERSION: &str = "2021-07-01";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sku {
    #[serde(default)]
    name: String,
    #[serde(default)]
    resource_type: String,
    #[serde(default)]
    location_info: Vec<LocationInfo>,
    #[serde(default)]
    restrictions: Vec<Restriction>,
}

#[derive(Deserialize)]
struct LocationInfo {
    #[serde(default)]
    zones: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Restriction {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    restriction_info: RestrictionInfo,
}

#[derive(Default, Deserialize)]
struct RestrictionInfo {
    #[serde(default)]
    zones: Vec<String>,
}

impl Azure {
    /// The zones of `location` that have `machine`, sorted; none if it is not offered there.
    pub async fn zones(&self, location: &str, machine: &str) -> Result<Vec<String>, Error> {
        let doing = format!("looking for zones of {location} that have {machine}");
        let path = format!("/subscriptions/{}/providers/Microsoft.Compute/skus", self.subscription);
        let filter = format!("location eq '{}'", location.replace('\'', "''"));
        let query = [("$filter", filter.as_str()), ("api-version", VERSION)];
        let skus: Vec<Sku> =
            self.list("list skus", &doing, self.http.get(&path).query(&query)).await?;
        let machine = skus.into_iter().find(|sku| {
            sku.resource_type.eq_ignore_ascii_case("virtualMachines") && sku.name == machine
        });
        let mut zones = machine.map(Sku::open_zones).unwrap_or_default();
        zones.sort();
        Ok(zones)
    }
}

impl Sku {
    fn open_zones(self) -> Vec<String> {
        let closed: Vec<String> = self
            .restrictions
            .into_iter()
            .filter(|restriction| restriction.kind == "Zone")
            .flat_map(|restriction| restriction.restriction_info.zones)
            .collect();
        let offered = self.location_info.into_iter().next().map(|info| info.zones);
        let offered = offered.unwrap_or_default().into_iter();
        offered.filter(|zone| !closed.contains(zone)).collect()
    }
}
