//! Empties an account before it is given to another tenant.
//!
//! What a reader would get wrong: the regions are those that Amazon lists for the account. In a region that the account has not opted in to
//! nothing can be left, and every call is refused.

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
    /// The region that is asked for the others: every account can use it.
    pub fn home(self) -> &'static str {
        match self {
            Self::Global => "eu-central-1",
            Self::Chinese => "cn-north-1",
            Self::Ns2 => "us-gov-east-1",
        }
    }
}

impl Aws {
    /// The regions where runtimes may have left something: all that the account can use.
    async fn used_regions(&self, market: Market) -> Result<BTreeSet<String>, Error> {
        let all: BTreeSet<String> = self.regions(market.home()).await?.into_iter().collect();
        if all.is_empty() {
            return Err(self.odd("listing regions", "field regionInfo: the account has no region"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_world_is_asked_for_its_regions_in_a_region_of_its_own() {
        let homes = [Market::Global, Market::Chinese, Market::Ns2].map(Market::home);

        assert_eq!(homes, ["eu-central-1", "cn-north-1", "us-gov-east-1"]);
    }
}
