//! Empties an account before it is given to another tenant.
//!
//! What a reader would get wrong: the regions listed here are the least that is looked at. What an account can use beyond them, Amazon is
//! asked for each time: a catalog may sell regions that are not listed.

use std::collections::BTreeSet;

use super::Aws;
use crate::error::{Error, Kind};

/// Which part of the world accounts belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Market {
    /// Everybody's.
    #[default]
    Global,
    /// China.
    Chinese,
    /// The government of the United States.
    Ns2,
}

impl Market {
    /// The regions that are emptied whatever Amazon lists; the first one is asked for the others.
    pub fn regions(self) -> &'static [&'static str] {
        match self {
            Self::Global => &[
                "eu-central-1",
                "eu-south-1",
                "eu-west-1",
                "eu-west-2",
                "ca-central-1",
                "sa-east-1",
                "us-east-1",
                "us-west-1",
                "us-west-2",
                "ap-northeast-1",
                "ap-northeast-2",
                "ap-south-1",
                "ap-southeast-1",
                "ap-southeast-2",
            ],
            Self::Chinese => &["cn-north-1", "cn-northwest-1"],
            Self::Ns2 => &["us-gov-east-1", "us-gov-west-1"],
        }
    }
}

impl Aws {
    /// The regions where runtimes may have left something: the market's, and all others that the account can use.
    async fn used_regions(&self, market: Market) -> Result<BTreeSet<String>, Error> {
        let known = market.regions();
        let mut all: BTreeSet<String> = known.iter().map(|region| (*region).to_owned()).collect();
        if let Some(first) = known.first() {
            all.extend(self.regions(first).await?);
        }
        Ok(all)
    }

    /// Deletes every volume of the account's regions and says how many there were. Only zero means empty: a
    /// volume that is being deleted is still there. Nothing is deleted while any volume is in use. Any
    /// failure is given back after the other volumes had their turn, so that the caller keeps the
    /// account dirty.
    pub async fn clean_up(&self, market: Market) -> Result<usize, Error> {
        let regions = self.used_regions(market).await?;
        let mut found = Vec::new();
        for region in &regions {
            for volume in self.volumes(region).await? {
                if volume.state == "in-use" {
                    let doing = format!("emptying {region}");
                    let in_use = Error::new(self.gate.component(), Kind::Conflict, &doing);
                    return Err(in_use.saying(format!("volume {} is in use", volume.id)));
                }
                found.push((region, volume));
            }
        }
        let mut failed = None;
        for (region, volume) in found.iter().filter(|(_, volume)| volume.state != "deleting") {
            if let Err(error) = self.delete_volume(region, &volume.id).await {
                tracing::warn!(volume = volume.id, region, %error, "volume not deleted");
                failed = failed.or(Some(error));
            }
        }
        failed.map_or(Ok(found.len()), Err)
    }
}
