//! Other settings for a runtime's cluster.

use super::{
    Caller, Provisioner,
    begin::{OperationStart, TRIES, UnfinishedPolicy, contended},
    operation_status::with_notes,
};
use crate::{
    Error, checking,
    document::Document,
    operations::{Versions, upgrade_shoot::UpgradeShoot},
    requests,
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Gives a runtime's cluster other settings.
    pub async fn upgrade_shoot(
        &self,
        caller: &Caller,
        runtime: &str,
        request: requests::UpgradeShoot,
    ) -> Result<OperationStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            let mark = caller.mark("upgradeShoot", owned.row.id, &request)?;
            if let Some(status) = self.answered(&mark).await? {
                return Ok(status);
            }
            self.check_changeable(&owned.row).await?;
            let live = self.awake_shoot(&owned.row).await?;
            let stored = &owned.document.configuration;
            let configuration = checking::upgrade_shoot(stored, live.as_ref(), request.clone())?;
            let requested = Versions {
                kubernetes: request.kubernetes_version.clone(),
                machine_image: request.machine_image_version.clone(),
            };
            let notes = requested.below(&configuration.cluster);
            let beginning = OperationStart {
                known_as: OperationType::UpgradeShoot,
                document: Document { configuration, upgrade: owned.document.upgrade.clone() },
                // Settings that Gardener refuses are never stored.
                at_once: false,
                kyma: false,
                shoot: true,
                first_message: with_notes("Starting Gardener Shoot upgrade", &notes),
                requested,
                mark,
                others: UnfinishedPolicy::Stay,
            };
            if let Some(status) = self.begin::<UpgradeShoot>(&owned, beginning).await? {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }
}
