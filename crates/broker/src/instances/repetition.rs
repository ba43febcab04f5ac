//! The answer to an order that was accepted before: what became of it.

use domain::OperationId;
use engine::State;
use uuid::Uuid;

use super::{
    Broker, Error, Provisioned,
    pairs::DEPROVISION,
    provision::GONE,
    stored::{Asked, is_suspension},
};
use crate::Order;

impl Broker {
    /// The stored answer to the same words, made by `operation`.
    pub(super) async fn repeated(
        &self,
        operation: Uuid,
        again: &Order,
    ) -> Result<Provisioned, Error> {
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
        // Names were drawn when it was accepted; the order in hand has drawn others.
        let asked: Asked = serde_json::from_slice(&made_by.input)?;
        let operation = Some(OperationId::from(operation));
        // One that failed is answered as if it ran: a client that polls it learns why.
        let running = operation.filter(|_| made_by.state != State::Succeeded);
        Ok(self.provisioned(running, &asked.order))
    }
}
