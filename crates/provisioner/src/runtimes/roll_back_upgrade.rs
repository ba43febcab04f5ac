//! Which Kyma counts, after an upgrade that nobody wants to keep. The cluster is not touched.

use super::{
    Caller, Provisioner,
    begin::{TRIES, contended},
};
use crate::{
    Error,
    document::Document,
    status::{OperationState, OperationType, RuntimeStatus},
};

impl Provisioner {
    /// Takes back which version of Kyma counts, after an upgrade that has ended. Repeating it changes
    /// nothing.
    pub async fn roll_back_upgrade(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<RuntimeStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.changeable(caller, runtime).await?;
            let last = match self.0.store.last_operation(owned.row.id).await? {
                Some(last) => Some(self.status_of(last).await?),
                None => None,
            };
            let over = last.as_ref().is_some_and(|last| {
                last.kind == OperationType::Upgrade && last.state != OperationState::InProgress
            });
            let taken = owned.document.upgrade.as_ref().filter(|taken| {
                last.as_ref().is_some_and(|last| last.id == taken.operation.to_string())
            });
            let Some(taken) = taken.filter(|_| over) else {
                return Err(Error::bad(
                    "error: upgrade can be rolled back only if it is the last operation that is already finished",
                ));
            };
            let mut configuration = owned.document.configuration.clone();
            configuration.kyma = Some(taken.before.clone());
            let document = Document { configuration, upgrade: owned.document.upgrade.clone() };
            let row = &owned.row;
            if self.0.store.replace(row.id, row.revision, &document.bytes()).await? {
                return self.runtime_status(caller, runtime).await;
            }
        }
        Err(contended(runtime))
    }
}
