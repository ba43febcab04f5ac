//! Volumes of a region.

use super::{Aws, xml::Element};
use crate::error::{Error, Kind};

/// A volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Its id.
    pub id: String,
    /// `available`, `in-use`, `deleting` …
    pub state: String,
}

impl Aws {
    /// The names of the regions that the account can use, as `region` knows them.
    pub async fn regions(&self, region: &str) -> Result<Vec<String>, Error> {
        let doing = "listing regions";
        let root = self.call(region, "DescribeRegions", doing, &[]).await?;
        // An answer without the list must not look like an account without regions.
        let regions =
            root.at(&["regionInfo"]).ok_or_else(|| self.odd(doing, "field regionInfo"))?;
        let name = |item: &Element| {
            let name = item.text(&["regionName"]).map(str::to_owned);
            name.ok_or_else(|| self.odd(doing, "field regionInfo.regionName"))
        };
        regions.children().iter().map(name).collect()
    }

    /// All volumes of a region, from all pages.
    pub async fn volumes(&self, region: &str) -> Result<Vec<Volume>, Error> {
        let doing = format!("listing volumes of {region}");
        let items = self.pages(region, "DescribeVolumes", &doing, "volumeSet", &[]).await?;
        let mut volumes = Vec::new();
        for item in &items {
            let field = |name: &str| {
                let text = item.text(&[name]).map(str::to_owned);
                text.ok_or_else(|| self.odd(&doing, &format!("field volumeSet.{name}")))
            };
            volumes.push(Volume { id: field("volumeId")?, state: field("status")? });
        }
        Ok(volumes)
    }

    /// Deletes a volume; one that is not there is deleted.
    pub async fn delete_volume(&self, region: &str, id: &str) -> Result<(), Error> {
        let doing = format!("deleting volume {id} of {region}");
        match self.call(region, "DeleteVolume", &doing, &[("VolumeId", id)]).await {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            done => done.map(|_| ()),
        }
    }
}
