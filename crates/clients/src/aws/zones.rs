//! Which zones of a region have a machine type.

use super::Aws;
use crate::error::Error;

impl Aws {
    /// The zones of `region` that have `machine`, sorted, from all pages; none if it is not offered.
    pub async fn zones(&self, region: &str, machine: &str) -> Result<Vec<String>, Error> {
        let doing = format!("looking for zones of {region} that have {machine}");
        let fields = [
            ("LocationType", "availability-zone"),
            ("Filter.1.Name", "instance-type"),
            ("Filter.1.Value.1", machine),
        ];
        let list = "instanceTypeOfferingSet";
        let offered =
            self.pages(region, "DescribeInstanceTypeOfferings", &doing, list, &fields).await?;
        let mut zones: Vec<String> =
            offered.iter().filter_map(|item| item.text(&["location"])).map(str::to_owned).collect();
        zones.sort();
        zones.dedup();
        Ok(zones)
    }
}
