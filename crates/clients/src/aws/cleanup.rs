//! Emptying an account before somebody else gets it.

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
    /// The regions where runtimes may have left something.
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
    /// Deletes every volume of the market's regions and says how many there were. Only zero means empty: a
    /// volume that is being deleted is still there. Nothing is deleted while any volume is in use. Any
    /// failure is given back after the other volumes had their turn, so that the caller keeps the
    /// account dirty.
    pub async fn clean_up(&self, market: Market) -> Result<usize, Error> {
        let mut found = Vec::new();
        for region in market.regions() {
            for volume in self.volumes(region).await? {
                if volume.state == "in-use" {
                    let doing = format!("emptying {region}");
                    let in_use = Error::new(self.gate.component(), Kind::Conflict, &doing);
                    return Err(in_use.saying(format!("volume {} is in use", volume.id)));
                }
                found.push((*region, volume));
            }
        }
        let mut failed = None;
        for (region, volume) in found.iter().filter(|(_, volume)| volume.state != "deleting") {
            if let Err(error) = self.delete_volume(region, &volume.id).await {
                tracing::warn!(volume = volume.id, region, %error, "a volume stays");
                failed = failed.or(Some(error));
            }
        }
        failed.map_or(Ok(found.len()), Err)
    }
}
