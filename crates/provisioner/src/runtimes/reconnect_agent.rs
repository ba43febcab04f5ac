//! A new connection between a runtime and the Director.

use super::{
    Caller, Provisioner,
    begin::{OperationStart, TRIES, UnfinishedPolicy, contended},
};
use crate::{
    Error,
    operations::{Versions, reconnection::Reconnection},
    status::{OperationStatus, OperationType},
};

impl Provisioner {
    /// Makes the agent of a runtime connect anew.
    pub async fn reconnect_agent(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<OperationStatus, Error> {
        for _ in 0..TRIES {
            let owned = self.owned(caller, runtime).await?;
            let mark = caller.mark("reconnectRuntimeAgent", owned.row.id, &())?;
            if let Some(status) = self.answered(&mark).await? {
                return Ok(status);
            }
            self.check_changeable(&owned.row).await?;
            self.awake_shoot(&owned.row).await?;
            let beginning = OperationStart {
                known_as: OperationType::ReconnectRuntime,
                document: owned.document.clone(),
                at_once: false,
                kyma: false,
                shoot: false,
                first_message: "Reconnecting the Runtime Agent started".into(),
                requested: Versions::default(),
                mark,
                others: UnfinishedPolicy::Stay,
            };
            if let Some(status) = self.begin::<Reconnection>(&owned, beginning).await? {
                return Ok(status);
            }
        }
        Err(contended(runtime))
    }
}
