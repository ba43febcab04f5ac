//! How an instance stands: in the words that operators filter by, from its row and its newest operation.
//!
//! What a reader would get wrong: it is a column of `instances` that triggers keep up to date, in the transaction that
//! changes the operation (`migrations/broker/*/0065_standing_of_dry_runs.sql`). Dry runs of upgrades do not count. Deriving it for each row of a list would read the
//! operations of every instance.

use std::str::FromStr;

/// How an instance stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// It is being made, or will be.
    Provisioning,
    /// It is being removed.
    Deprovisioning,
    /// It is being changed.
    Updating,
    /// Its cluster, or Kyma in it, is being upgraded.
    Upgrading,
    /// Its newest operation has ended well.
    Succeeded,
    /// It could not be made or removed.
    Failed,
    /// It could not be changed or upgraded.
    Error,
    /// Its cluster was removed, and may come back.
    Suspended,
    /// It was removed, with something left over.
    Deprovisioned,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Provisioning,
        Self::Deprovisioning,
        Self::Updating,
        Self::Upgrading,
        Self::Succeeded,
        Self::Failed,
        Self::Error,
        Self::Suspended,
        Self::Deprovisioned,
    ];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provisioning => "provisioning",
            Self::Deprovisioning => "deprovisioning",
            Self::Updating => "updating",
            Self::Upgrading => "upgrading",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Suspended => "suspended",
            Self::Deprovisioned => "deprovisioned",
        }
    }
}

impl FromStr for Standing {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == word).ok_or(())
    }
}
