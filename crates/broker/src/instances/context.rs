//! The context of an instance, as the platform says it anew: stored with the operation that is accepted with it, or alone.
//!
//! What a reader would get wrong: more than the context can change with it. An account that moves leaves behind who pays, and another
//! licence has another network filter.

use domain::parameters;
use store::broker::{AcceptedChange, Instance};

use super::{Broker, Error};
use crate::{ContextChange, Order};

/// How often it begins again after a concurrent change of the instance.
const TRIES: usize = 5;

/// An order under another context.
pub(super) struct ChangedOrder {
    /// The order.
    pub(super) order: Order,
    /// As it is stored.
    bytes: Vec<u8>,
    /// Whether anything of it is other than what is stored.
    changes: bool,
    /// Whether it belongs to another global account.
    moves: bool,
}

impl ChangedOrder {
    /// What changes of the instance's row. An instance that stays as it is does not have to be as it was read.
    pub(super) fn change(&self) -> AcceptedChange<'_> {
        if self.changes { self.on_revision() } else { AcceptedChange::default() }
    }

    /// The same, for an instance that must be as it was read.
    pub(super) fn on_revision(&self) -> AcceptedChange<'_> {
        let account = self.order.context.globalaccount_id.as_str();
        AcceptedChange {
            order: Some(&self.bytes),
            global_account: self.moves.then_some(account),
            expires: false,
        }
    }
}

impl Broker {
    /// The order of an instance under another context.
    pub(super) fn under_context(
        &self,
        row: &Instance,
        change: &ContextChange,
    ) -> Result<ChangedOrder, Error> {
        let stored: Order = serde_json::from_slice(&row.order)?;
        changed(row, &stored, self.applied(&stored, change))
    }

    /// The order of an instance that gets another cluster. The licence that it has counts, whatever the last cluster had, and so do the
    /// versions of today: those of the last cluster may not be offered any more.
    pub(super) fn for_next_cluster(
        &self,
        row: &Instance,
        change: &ContextChange,
    ) -> Result<ChangedOrder, Error> {
        let stored: Order = serde_json::from_slice(&row.order)?;
        let mut order = self.applied(&stored, change);
        let catalog = &self.parts().catalog;
        let (nothing, license) = (parameters::Update::default(), &order.context.license_type);
        order.resolved = catalog.resolve_again(&order.resolved, &nothing, license.as_deref());
        catalog.renew_versions(&mut order.resolved);
        changed(row, &stored, order)
    }

    /// A stored order with what a change says about its context.
    fn applied(&self, stored: &Order, change: &ContextChange) -> Order {
        let context = change.applied_to(&stored.context);
        let license = change.license_type.as_deref();
        let nothing = parameters::Update::default();
        let resolved = self.parts().catalog.resolve_again(&stored.resolved, &nothing, license);
        let context_revisions = stored.context_revisions.after(change);
        Order { context, resolved, context_revisions, ..stored.clone() }
    }

    /// Stores the context of a change that no operation is accepted with; concurrent changes of the instance are kept.
    pub(super) async fn store_context(
        &self,
        instance: &str,
        change: &ContextChange,
    ) -> Result<(), Error> {
        let store = &self.parts().store;
        for _ in 0..TRIES {
            // Removed meanwhile: there is nothing to be said about it any more.
            let Some(row) = store.find(instance).await? else { return Ok(()) };
            let changed = self.under_context(&row, change)?;
            let AcceptedChange { order: Some(order), global_account, .. } = changed.change() else {
                return Ok(());
            };
            if store.change_order(instance, row.revision, order, global_account).await? {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }
}

/// What an order of this row becomes.
fn changed(row: &Instance, stored: &Order, mut order: Order) -> Result<ChangedOrder, Error> {
    let moves =
        order.context != stored.context && order.context.globalaccount_id != row.global_account;
    if moves {
        order.subscription_account.get_or_insert_with(|| row.global_account.clone());
    }
    let bytes = serde_json::to_vec(&order)?;
    Ok(ChangedOrder { changes: order != *stored, order, bytes, moves })
}
