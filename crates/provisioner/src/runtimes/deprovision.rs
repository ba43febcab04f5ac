//! The end of a runtime.

use super::{
    Caller, Provisioner,
    begin::{Beginning, TRIES, contended},
};
use crate::{
    Error,
    operations::deprovisioning::{Deprovisioning, DeprovisioningNoInstall},
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Removes a runtime with everything that was made for it. One that is gone is answered with the
    /// operation that removed it.
    pub async fn deprovision(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            if owned.row.deleted_at.is_some()
                && let Some(last) = self.0.store.last_operation(owned.row.id).await?
            {
                return self.status_of(last).await;
            }
            let kyma = owned.document.configuration.kyma.is_some();
            let beginning = Beginning {
                known_as: if kyma {
                    OperationType::Deprovision
                } else {
                    OperationType::DeprovisionNoInstall
                },
                document: owned.document.clone(),
                at_once: false,
                kyma,
                shoot: true,
                first_message: "Deprovisioning started",
                id: caller.operation_id("deprovisionRuntime", runtime),
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
