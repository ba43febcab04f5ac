//! Shared by both upgrades: their data, their beginning, and their notifications.
//!
//! What a reader would get wrong: neither of them ends the maintenance that it has begun. `chores/maintenance.rs` does, whether the
//! upgrade succeeds, fails or is stopped.

pub(crate) mod avs_maintenance;
pub(crate) mod send_notification;

use clients::spc::EventType;
use engine::{Applies, Condition, Cx, Operation, StepError, step::Waiting, waiting};
use serde::{Deserialize, Serialize};
use store::broker::MaintenanceOf;
use uuid::Uuid;

use super::{instance, missing_data};
use crate::{Details, Order, details::RuntimeVersion, operations::env::Env};

/// An operation that upgrades a runtime.
pub(crate) trait Upgrading: Operation<Data = Data, Env = Env> {
    /// The event type of notifications about the runtime.
    const EVENT: EventType;

    /// The request.
    fn request(input: &Self::Input) -> Request;
}

/// The request of every upgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// The orchestration that the upgrade belongs to.
    pub(crate) orchestration: Option<Uuid>,
    /// Whether nothing outside is to change.
    pub(crate) dry_run: bool,
    /// Whether the customer is notified.
    pub(crate) notify: bool,
}

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// The operation that has learnt it; an operation that continues it has other work to do.
    pub of: Option<Uuid>,
    /// The details of the instance.
    pub details: Details,
    /// The order as it was when the upgrade began, with what the upgrade makes of it.
    pub order: Option<Order>,
    /// The version of Kyma that the runtime gets.
    pub version: Option<RuntimeVersion>,
    /// Whether the customer was notified that it has begun.
    pub announced: bool,
    /// Whether the runtime's evaluations are in maintenance mode.
    pub in_maintenance: bool,
    /// Whether the Reconciler has got the new configuration from this operation.
    pub applied: bool,
    /// Operations at the provisioner that earlier operations have ordered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ordered_before: Vec<String>,
}

impl Data {
    /// What is left to do for an operation that continues another one. The order is kept: the same upgrade is tried again.
    fn continue_as(&mut self, operation: Uuid) {
        self.ordered_before.extend(self.details.target_operation_id.take());
        (self.announced, self.in_maintenance, self.applied) = (false, false, false);
        self.of = Some(operation);
    }
}

/// Reads the instance when the upgrade begins, once. Gives what has to be waited for before.
///
/// What a reader would get wrong: a retry by an operator begins with the data of the operation that failed. What that one has
/// announced was taken back since, its maintenance included.
pub(crate) async fn begin<O: Upgrading>(cx: &mut Cx<'_, O>) -> Result<Option<Waiting>, StepError> {
    if cx.data.of == Some(cx.operation) {
        return Ok(None);
    }
    // The orchestration has announced the maintenance: its end is notified even when the upgrade ends before its own notification. The
    // driver has written that down; now it begins.
    let Request { orchestration, dry_run, notify } = O::request(cx.input);
    let announced = orchestration.filter(|_| notify && !dry_run && cx.data.of.is_none());
    if let Some(orchestration) = announced {
        let kept = cx.env.store.announce_first_maintenance(of(cx), orchestration).await;
        kept.map_err(|error| StepError::internal(&error))?;
    }
    // Evaluations that the previous upgrade has put into maintenance mode would look as if an operator had done it.
    let others = cx.env.store.has_other_maintenance(cx.instance, cx.operation).await;
    if others.map_err(|error| StepError::internal(&error))? {
        return Ok(Some(waiting("the maintenance mode of the upgrade before is being ended")));
    }
    if cx.data.order.is_none() {
        let (order, details) = instance::current(cx.env, cx.instance, "upgraded").await?;
        cx.data.details = details;
        cx.data.order = Some(order);
    }
    cx.data.continue_as(cx.operation);
    Ok(None)
}

/// The order with the upgrade.
pub(crate) fn order<'a, O: Upgrading>(cx: &'a Cx<'_, O>) -> Result<&'a Order, StepError> {
    cx.data.order.as_ref().ok_or_else(|| missing_data("the upgrade has not begun"))
}

/// The upgrade, as its maintenance is stored under it.
fn of<'a, O: Upgrading>(cx: &Cx<'a, O>) -> MaintenanceOf<'a> {
    MaintenanceOf { operation: cx.operation, kind: O::KIND, instance: cx.instance }
}

/// Only where something is changed outside.
pub(crate) const fn is_no_dry_run<O: Upgrading>() -> Condition<O> {
    Condition::new("it is no dry run", |cx| {
        Applies::when(!O::request(cx.input).dry_run, "a dry run changes nothing outside")
    })
}

/// Only where customers are notified.
pub(crate) const fn is_announced<O: Upgrading>() -> Condition<O> {
    Condition::new("the orchestration notifies customers", |cx| {
        let request = O::request(cx.input);
        let announced = request.notify && request.orchestration.is_some();
        Applies::when(announced, "customers are not notified of this upgrade")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_continues_another_announces_and_orders_again() {
        let (first, second) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let details = Details { target_operation_id: Some("ordered".into()), ..Details::default() };
        let mut data = Data {
            of: Some(first),
            details,
            announced: true,
            in_maintenance: true,
            applied: true,
            ..Data::default()
        };

        data.continue_as(second);

        assert_eq!((data.of, data.details.target_operation_id), (Some(second), None));
        assert_eq!([data.announced, data.in_maintenance, data.applied], [false; 3]);
        assert_eq!(data.ordered_before, ["ordered"]);
    }
}
