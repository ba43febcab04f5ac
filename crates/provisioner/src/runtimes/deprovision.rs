//! The end of a runtime.

use super::{
    Caller, Provisioner,
    begin::{OperationStart, TRIES, UnfinishedPolicy, contended},
};
use crate::{
    Error,
    operations::{
        Versions,
        deprovisioning::{Deprovisioning, DeprovisioningNoInstall},
    },
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Removes a runtime with everything that was made for it. One that is gone is answered with the
    /// operation that removed it. With `supersede`, what is unfinished is called off, instead of being in the way.
    pub async fn deprovision(
        &self,
        caller: &Caller,
        runtime: &str,
        supersede: bool,
    ) -> Result<OperationStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            let mark = caller.mark("deprovisionRuntime", owned.row.id, &())?;
            if let Some(status) = self.answered(&mark).await? {
                return Ok(status);
            }
            if owned.row.deleted_at.is_some()
                && let Some(last) = self.0.store.last_operation(owned.row.id).await?
            {
                return self.status_of(last).await;
            }
            let kyma = owned.document.configuration.kyma.is_some();
            let beginning = OperationStart {
                known_as: if kyma {
                    OperationType::Deprovision
                } else {
                    OperationType::DeprovisionNoInstall
                },
                document: owned.document.clone(),
                at_once: false,
                kyma,
                shoot: true,
                first_message: "Deprovisioning started".into(),
                requested: Versions::default(),
                mark,
                others: if supersede { UnfinishedPolicy::End } else { UnfinishedPolicy::Stay },
            };
            let begun = if kyma {
                self.begin::<Deprovisioning>(&owned, beginning).await?
            } else {
                self.begin::<DeprovisioningNoInstall>(&owned, beginning).await?
            };
            if let Some(status) = begun {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }
}
