//! The answer to an order that was accepted before: what became of it.

use domain::OperationId;
use engine::{State, storage::Snapshot};
use uuid::Uuid;

use super::{
    AcceptedOrder, Broker, Error,
    pairs::DEPROVISION,
    provision::GONE,
    stored::{StoredInput, is_suspension},
};
use crate::Order;

impl Broker {
    /// The stored answer to the same words, made by `operation`.
    pub(super) async fn repeated(
        &self,
        operation: Uuid,
        again: &Order,
    ) -> Result<AcceptedOrder, Error> {
        let store = &self.parts().store;
        let there = store.find(&again.instance_id).await?;
        let Some(row) = there.filter(|row| row.deleted_at.is_none()) else {
            return Err(Error::Taken(GONE));
        };
        if let Some(newest) = self.newest(&row.id, None).await?
            && newest.kind == DEPROVISION
            && !is_suspension(&newest)?
        {
            return Err(if newest.state.is_final() { Error::Taken(GONE) } else { Error::Busy });
        }
        let Some(made_by) = self.snapshot(operation).await? else {
            return Err(Error::Taken(GONE));
        };
        let made_by = self.continued(made_by).await?;
        // Names were drawn when it was accepted; the order in hand has drawn others.
        let asked: StoredInput = serde_json::from_slice(&made_by.input)?;
        let operation = Some(OperationId::from(made_by.id));
        // One that failed is answered as if it ran: a client that polls it learns why.
        let running = operation.filter(|_| made_by.state != State::Succeeded);
        Ok(self.provisioned(running, &asked.order))
    }
    /// The operation that continues this one, if it has failed and an operator has retried it.
    async fn continued(&self, operation: Snapshot) -> Result<Snapshot, Error> {
        if !matches!(operation.state, State::Failed | State::Canceled) {
            return Ok(operation);
        }
        let line = self.parts().operations.of_instances(&[&operation.instance]).await?;
        match line.into_iter().rfind(|other| other.root == operation.root) {
            Some(newest) if newest.id != operation.id => {
                Ok(self.snapshot(newest.id).await?.unwrap_or(operation))
            }
            _ => Ok(operation),
        }
    }
}
