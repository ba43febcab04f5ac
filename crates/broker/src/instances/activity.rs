//! Whether an instance is active: suspension, return and expiry, as a change asks for them.

use store::broker::Instance;

use super::{Broker, Caller, Error};
use crate::{ContextChange, Order};

/// What a change says that may end or begin the activity of an instance.
#[expect(dead_code, reason = "read once instances can be suspended")]
pub(super) struct ActivityChange<'a> {
    /// The instance's row.
    pub(super) row: &'a Instance,
    /// What is stored as its order.
    pub(super) order: &'a Order,
    /// What the request's context says; `active` is the wish.
    pub(super) context: &'a ContextChange,
    /// Whether the request asks for the instance's end of life (`parameters.expired`).
    pub(super) expired: bool,
    /// Whether the request also changes the runtime: parameters, plan, credentials.
    pub(super) changes_runtime: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// The instance stays as active as it is: the rest of the request is worked on.
    Unchanged,
    /// Suspension, return or expiry has begun, and the context is stored: the request is answered with 200.
    #[expect(dead_code, reason = "answered once instances can be suspended")]
    Changed,
    /// The instance was changed meanwhile: the request is looked at again.
    #[expect(dead_code, reason = "answered once instances can be suspended")]
    Again,
}

impl Broker {
    /// Begins what the change's context says about being active.
    #[expect(clippy::unused_async, reason = "it stores operations once instances can be suspended")]
    pub(super) async fn change_activity(
        &self,
        _caller: &Caller,
        _change: &ActivityChange<'_>,
    ) -> Result<Activity, Error> {
        Ok(Activity::Unchanged)
    }
}
