//! Whether an instance is active: suspension, return and expiry, as a change asks for them.
//!
//! What a reader would get wrong: nothing of the request is dropped, and nothing of a refused one is stored. What the context says is
//! stored in the transaction that accepts the operation, so that the next cluster is made with it; parameters beside it are refused.

use domain::parameters;
use store::broker::Instance;

use super::{
    Broker, Caller, Error,
    stored::is_unsuspension,
    suspension::{Course, EXPIRED, Sleep, stands},
};
use crate::ContextChange;

const NOT_EXPIRING: &str = "expiration of a non-trial instance is not supported";
const TWO_REQUESTS: &str = "context.active and parameters cannot change together, nor the plan: suspend or resume the instance first";
const SUSPENDED: &str =
    "the instance is suspended: its parameters and plan can be changed once it is active";
const NOT_BACK: &str = "the instance has not come back from its suspension: its parameters and plan can be changed once it is active; context.active = true brings it back";

/// An update that may suspend or resume an instance.
pub(super) struct ActivityChange<'a> {
    /// The instance's row.
    pub(super) row: &'a Instance,
    /// Where its operations lead the instance.
    pub(super) course: Option<&'a Course>,
    /// The context of the request; `active` is the requested state.
    pub(super) context: &'a ContextChange,
    /// The parameters of the request; `expired` requests the end of the instance's life.
    pub(super) parameters: &'a parameters::Update,
    /// Whether the instance changes to another plan.
    pub(super) changes_plan: bool,
}

/// What a change of an instance that is not, or not to stay, active comes to. It is answered with 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Suspend,
    Return,
    Expire,
    /// Nothing but the context is stored, for the return.
    Keep,
}

impl Broker {
    /// Does it, and stores the context with it.
    pub(super) async fn act(
        &self,
        caller: &Caller,
        row: &Instance,
        action: Action,
        context: &ContextChange,
    ) -> Result<(), Error> {
        match action {
            Action::Suspend => {
                let plan = Sleep::OfPlan(&row.plan_id);
                self.put_to_sleep(caller, &row.id, plan, context).await.map(drop)
            }
            Action::Return => self.bring_back(caller, &row.id, context).await.map(drop),
            Action::Expire => self.expire_with(caller, &row.id, context).await.map(drop),
            Action::Keep => self.store_context(&row.id, context).await,
        }
    }

    /// The action for an update; none when the instance stays active, and the rest of the request is worked on.
    pub(super) fn action(&self, change: &ActivityChange<'_>) -> Result<Option<Action>, Error> {
        let ActivityChange { row, course, context, parameters, changes_plan } = change;
        let plans = &self.parts().settings.suspension;
        let others = parameters::Update { expired: false, ..(*parameters).clone() };
        let changes_parameters = others != parameters::Update::default() || *changes_plan;
        if parameters.expired {
            return match plans.expiring.contains(&row.plan_name) {
                false => Err(Error::Bad(NOT_EXPIRING.into())),
                true if changes_parameters => Err(Error::Unchangeable(TWO_REQUESTS.into())),
                true => Ok(Some(Action::Expire)),
            };
        }
        // Plans may expire that cannot be suspended.
        if row.expired_at.is_some() && context.active == Some(true) {
            return Err(Error::Bad(EXPIRED.into()));
        }
        // What was suspended comes back, whatever the settings have become since.
        let can_be_suspended = plans.suspended.contains(&row.plan_name);
        let active = context.active.filter(|active| *active || can_be_suspended);
        let (action, text) = match course {
            Some(Course::Made(made)) => match active {
                Some(false) => (Action::Suspend, TWO_REQUESTS),
                _ if stands(made) => return Ok(None),
                Some(true) => (Action::Return, TWO_REQUESTS),
                None if is_unsuspension(made)? => (Action::Keep, NOT_BACK),
                None => return Ok(None),
            },
            Some(Course::Suspended(_)) if active == Some(true) => (Action::Return, TWO_REQUESTS),
            Some(Course::Suspended(gone)) if stands(gone) => (Action::Keep, SUSPENDED),
            Some(Course::Suspended(_)) => (Action::Suspend, TWO_REQUESTS),
            Some(Course::Removed(_)) | None => return Ok(None),
        };
        if changes_parameters {
            return Err(Error::Unchangeable(text.into()));
        }
        Ok(Some(action))
    }
}
