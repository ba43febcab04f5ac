//! How an instance stands: in the words that operators filter by, from its row and its newest operation.
//!
//! What a reader would get wrong: the newest operation is the newest *that counts*. One that is pending has changed
//! nothing yet, and an upgrade or update that was called off has changed nothing at all; an order or a removal that was
//! called off has not done what it was asked to do, so it counts as failed.

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

/// The word for an instance, as SQL. The newest operation is the last entry of an index.
macro_rules! standing {
    () => {
        "COALESCE((
            SELECT CASE
                WHEN o.state = 'succeeded' AND o.kind <> 'deprovision' THEN 'succeeded'
                WHEN o.state = 'succeeded' AND instances.deleted_at IS NULL THEN 'suspended'
                WHEN o.state = 'succeeded' THEN 'deprovisioned'
                WHEN o.state = 'in progress' AND o.kind = 'provision' THEN 'provisioning'
                WHEN o.state = 'in progress' AND o.kind = 'deprovision' THEN 'deprovisioning'
                WHEN o.state = 'in progress' AND o.kind = 'update' THEN 'updating'
                WHEN o.state = 'in progress' THEN 'upgrading'
                WHEN o.kind IN ('provision', 'deprovision') THEN 'failed'
                ELSE 'error' END
            FROM operations o
            WHERE o.instance = instances.id AND o.state <> 'pending'
              AND (o.state <> 'canceled' OR o.kind IN ('provision', 'deprovision'))
            ORDER BY o.instance DESC, o.created_at DESC, o.id DESC LIMIT 1), 'provisioning')"
    };
}
pub(super) use standing;
