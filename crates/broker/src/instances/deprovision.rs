//! The end of an instance, in whatever state it is.

use domain::OperationId;
use engine::{
    State, Storage,
    storage::{Acceptance, Snapshot},
};
use store::{RowAcceptance, broker::Instance};
use uuid::Uuid;

use super::{
    Broker, Caller, Deprovision, Error,
    pairs::{self, DEPROVISION},
    requests::require_plan,
    stored::{self, StoredInput},
};
use crate::{Order, operations::deprovisioning::left_nothing};

/// How often it begins again after a concurrent change of the instance.
const TRIES: usize = 5;

impl Broker {
    /// Removes an instance with everything that was made for it; gives the operation that does, which is the running
    /// one when there is one.
    pub async fn deprovision(
        &self,
        caller: &Caller,
        request: Deprovision,
    ) -> Result<OperationId, Error> {
        require_plan(&request.service_id, &request.plan_id)?;
        for _ in 0..TRIES {
            let there = self.parts().store.find(&request.instance_id).await?;
            let Some(row) = there.filter(|row| caller.sees(&row.global_account)) else {
                return Err(Error::Gone);
            };
            if !request.accepts_incomplete {
                return Err(Error::AsyncRequired);
            }
            let before = self.newest(&row.id, Some(&[DEPROVISION])).await?;
            let suspended = before.as_ref().map(stored::is_suspension).transpose()?;
            let begun = match before {
                // A suspension has kept what a removal takes away.
                _ if suspended == Some(true) => self.begin(caller, &row).await?,
                Some(removal) if is_enough(&removal) => Some(removal.id),
                Some(removal) if removal.state.is_final() => Some(self.go_on(&removal).await?),
                // One that is being called off ends soon; what it leaves is done by a removal of its own.
                _ => self.begin(caller, &row).await?,
            };
            if let Some(operation) = begun {
                return Ok(operation.into());
            }
        }
        Err(Error::Busy)
    }

    /// A new operation that runs only what an earlier one has not completed.
    async fn go_on(&self, removal: &Snapshot) -> Result<Uuid, Error> {
        let id = OperationId::new().uuid();
        let pairs = |unfinished: &[_]| pairs::verdict(DEPROVISION, id, unfinished);
        match self.parts().operations.continue_from(removal.id, id, &pairs).await? {
            Acceptance::Started | Acceptance::Queued => Ok(id),
            Acceptance::Same(other) => Ok(other),
            Acceptance::Refused(_) => Err(Error::Busy),
        }
    }

    /// The first removal. `None`: the instance was changed meanwhile, look again.
    async fn begin(&self, caller: &Caller, row: &Instance) -> Result<Option<Uuid>, Error> {
        let order: Order = serde_json::from_slice(&row.order)?;
        let id = OperationId::new().uuid();
        let operation = stored::deprovision(id, &StoredInput::by(caller, order))?;
        let pairs = |unfinished: &[_]| pairs::verdict(DEPROVISION, id, unfinished);
        let accepted =
            self.parts().store.accept(&row.id, row.revision, operation, &pairs, None).await?;
        match accepted {
            RowAcceptance::Yes(Acceptance::Started | Acceptance::Queued) => Ok(Some(id)),
            RowAcceptance::Yes(Acceptance::Same(other)) => Ok(Some(other)),
            RowAcceptance::Yes(Acceptance::Refused(_)) => Err(Error::Busy),
            RowAcceptance::Changed => Ok(None),
            RowAcceptance::Gone => Err(Error::Gone),
        }
    }
}

/// Whether a removal runs, or has left nothing.
fn is_enough(removal: &Snapshot) -> bool {
    match removal.state {
        State::Pending | State::InProgress => removal.cancel.is_none(),
        State::Succeeded => left_nothing(removal),
        State::Failed | State::Canceled => false,
    }
}
