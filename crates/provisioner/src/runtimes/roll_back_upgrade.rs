//! Which Kyma counts, after an upgrade that nobody wants to keep. The cluster is not touched.

use uuid::Uuid;

use super::{
    Caller, Provisioner,
    begin::{TRIES, contended},
    operation_status::read_input,
};
use crate::{
    Error,
    document::Document,
    status::{OperationType, RuntimeStatus, StatusFields},
};

impl Provisioner {
    /// Takes back which version of Kyma counts, after an upgrade that has ended. Repeating it changes
    /// nothing.
    pub async fn roll_back_upgrade(
        &self,
        caller: &Caller,
        runtime: &str,
        parts: StatusFields,
    ) -> Result<RuntimeStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            self.check_changeable(&owned.row).await?;
            let last = self.0.store.last_operation(owned.row.id).await?;
            let Some(last) = self.ended_kyma_upgrade(last).await? else {
                return Err(Error::bad(
                    "error: upgrade can be rolled back only if it is the last operation that is already finished",
                ));
            };
            let taken = owned.document.upgrade.as_ref().filter(|taken| taken.operation == last);
            // One that Gardener refused has switched nothing.
            let Some(taken) = taken else {
                return self.runtime_status(caller, runtime, parts).await;
            };
            let mut configuration = owned.document.configuration.clone();
            configuration.kyma = Some(taken.before.clone());
            let document = Document { configuration, upgrade: owned.document.upgrade.clone() };
            let (row, bytes) = (&owned.row, document.bytes());
            let tenant = owned.moves_to.as_deref();
            if self.0.store.replace(row.id, row.revision, &bytes, tenant).await? {
                owned.tell_of_move("rollBackUpgradeOperation");
                return self.runtime_status(caller, runtime, parts).await;
            }
        }
        Err(contended(runtime))
    }

    /// The operation, if it is an upgrade of Kyma that has ended.
    async fn ended_kyma_upgrade(&self, operation: Option<Uuid>) -> Result<Option<Uuid>, Error> {
        let Some(id) = operation else { return Ok(None) };
        let Some(snapshot) = self.snapshot(id).await? else { return Ok(None) };
        let input = read_input(&snapshot)?;
        let upgrade = input.known_as == OperationType::Upgrade && input.kyma;
        Ok((upgrade && snapshot.state.is_final()).then_some(id))
    }
}
