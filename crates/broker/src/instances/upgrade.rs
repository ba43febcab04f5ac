//! An upgrade of one instance: what operators want for its Kyma or its cluster becomes an operation.
//!
//! What a reader would get wrong: the caller chooses the operation's id. An orchestration stores the ids first, so that an
//! upgrade whose acceptance nobody heard of is found again and not begun twice.

use domain::OperationId;
use engine::storage::{Acceptance, NewOperation};
use store::{RowAcceptance, broker::Instance};
use uuid::Uuid;

use super::{
    Broker, Error, pairs,
    stored::{self, is_unsuspension},
    suspension::Course,
};
use crate::{
    Order,
    operations::{
        upgrade_cluster::{self, UpgradingCluster},
        upgrade_kyma::{self, UpgradingKyma},
    },
};
use engine::{Operation, State};

/// How often it begins again after a concurrent change of the instance.
const TRIES: usize = 5;

/// An upgrade of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// The orchestration that it belongs to.
    pub orchestration: Option<Uuid>,
    /// Whether nothing outside is to change.
    pub dry_run: bool,
    /// Whether the customer is notified.
    pub notify: bool,
    /// The target of the upgrade.
    pub target: UpgradeTarget,
}

/// The target of the upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpgradeTarget {
    /// Kyma.
    Kyma {
        /// The version; that of the account, or everybody's, without.
        version: Option<String>,
    },
    /// The cluster.
    Cluster {
        /// The version of Kubernetes; the catalog's without.
        kubernetes_version: Option<String>,
        /// The machine image; the catalog's without.
        machine_image: Option<String>,
        /// The version of the machine image; the catalog's without.
        machine_image_version: Option<String>,
    },
}

impl UpgradeTarget {
    /// The kind of operation that does it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kyma { .. } => UpgradingKyma::KIND,
            Self::Cluster { .. } => UpgradingCluster::KIND,
        }
    }
}

impl Broker {
    /// The operation `id` that upgrades an instance, not accepted yet: [`pairs::upgrade_verdict`] says what becomes of it.
    pub async fn prepare_upgrade(
        &self,
        instance: &str,
        id: OperationId,
        change: Upgrade,
    ) -> Result<NewOperation, Error> {
        let row = self.upgradable(instance).await?;
        new(id.uuid(), &row, change)
    }

    /// Begins the operation `id` that upgrades an instance, or finds it begun.
    pub async fn upgrade(
        &self,
        instance: &str,
        id: OperationId,
        change: Upgrade,
    ) -> Result<(), Error> {
        for _ in 0..TRIES {
            if self.snapshot(id.uuid()).await?.is_some() {
                return Ok(());
            }
            let row = self.upgradable(instance).await?;
            let operation = new(id.uuid(), &row, change.clone())?;
            let pairs = |unfinished: &[_]| pairs::upgrade_verdict(id.uuid(), unfinished);
            let accepted =
                self.parts().store.accept(&row.id, row.revision, operation, &pairs, None);
            match accepted.await? {
                RowAcceptance::Yes(Acceptance::Refused(_)) => return Err(Error::Busy),
                RowAcceptance::Yes(_) => return Ok(()),
                RowAcceptance::Changed | RowAcceptance::Gone => {}
            }
        }
        Err(Error::Busy)
    }

    /// An instance that has a runtime, or gets one.
    async fn upgradable(&self, instance: &str) -> Result<Instance, Error> {
        let there = self.parts().store.find(instance).await?;
        let row = there.filter(|row| row.deleted_at.is_none());
        let row = row.ok_or_else(|| {
            Error::NotFound(format!("instance with instanceID {instance} does not exist"))
        })?;
        let text = match self.course(&row.id).await? {
            Some(Course::Made(made)) => {
                let failed = matches!(made.state, State::Failed | State::Canceled);
                match (failed, is_unsuspension(&made)?) {
                    (false, _) => return Ok(row),
                    (true, true) => "an instance that is suspended cannot be upgraded",
                    (true, false) => "an instance that could not be provisioned cannot be upgraded",
                }
            }
            None => return Ok(row),
            Some(Course::Removed(removal)) if !removal.state.is_final() => return Err(Error::Busy),
            Some(Course::Suspended(going)) if !going.state.is_final() => return Err(Error::Busy),
            Some(Course::Removed(_)) => "an instance that was deprovisioned cannot be upgraded",
            Some(Course::Suspended(_)) => "an instance that is suspended cannot be upgraded",
        };
        Err(Error::Unchangeable(text.into()))
    }
}

fn new(id: Uuid, row: &Instance, change: Upgrade) -> Result<NewOperation, Error> {
    let order: Order = serde_json::from_slice(&row.order)?;
    let Upgrade { orchestration, dry_run, notify, target } = change;
    match target {
        UpgradeTarget::Kyma { version } => {
            let input = upgrade_kyma::Input { order, orchestration, dry_run, notify, version };
            let bytes = serde_json::to_vec(&input)?;
            Ok(stored::new::<UpgradingKyma>(id, &input.order, bytes))
        }
        UpgradeTarget::Cluster { kubernetes_version, machine_image, machine_image_version } => {
            let input = upgrade_cluster::Input {
                order,
                orchestration,
                dry_run,
                notify,
                kubernetes_version,
                machine_image,
                machine_image_version,
            };
            let bytes = serde_json::to_vec(&input)?;
            Ok(stored::new::<UpgradingCluster>(id, &input.order, bytes))
        }
    }
}
