//! Whether an instance is active: suspension, return and expiry, as a change asks for them.
//!
//! What a reader would get wrong: nothing of the request is dropped. What the context says is stored before the operation
//! is accepted, so that the next cluster is made with it; parameters beside it are refused.

use domain::parameters;
use store::broker::Instance;

use super::{
    Broker, Caller, Error,
    suspension::{Course, EXPIRED, stands},
};
use crate::ContextChange;

const NOT_EXPIRING: &str = "expiration of a non-trial instance is not supported";
const TWO_REQUESTS: &str = "context.active and parameters cannot change together, nor the plan: suspend or resume the instance first";
const SUSPENDED: &str =
    "the instance is suspended: its parameters and plan can be changed once it is active";

/// What a change says that may end or begin the activity of an instance.
pub(super) struct ActivityChange<'a> {
    /// The instance's row.
    pub(super) row: &'a Instance,
    /// What the request's context says; `active` is the wish.
    pub(super) context: &'a ContextChange,
    /// What the request says about the runtime; `expired` is the wish for the instance's end of life.
    pub(super) parameters: &'a parameters::Update,
    /// Whether the instance changes to another plan.
    pub(super) changes_plan: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// The instance stays as active as it is: the rest of the request is worked on.
    Unchanged,
    /// Suspension, return or expiry has begun, and the context is stored: the request is answered with 200.
    Changed,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Suspend,
    Return,
    Expire,
    /// Nothing but the context is stored, for the return.
    Keep,
}

impl Broker {
    /// Begins what the change says about being active.
    pub(super) async fn change_activity(
        &self,
        caller: &Caller,
        change: &ActivityChange<'_>,
    ) -> Result<Activity, Error> {
        let Some(action) = self.action(change).await? else { return Ok(Activity::Unchanged) };
        let instance = &change.row.id;
        self.store_context(instance, change.context).await?;
        match action {
            Action::Suspend => {
                self.suspend(caller, instance).await?;
            }
            Action::Return => {
                self.unsuspend(caller, instance).await?;
            }
            Action::Expire => {
                self.expire(caller, instance).await?;
            }
            Action::Keep => {}
        }
        Ok(Activity::Changed)
    }

    /// What follows from a change; none when it is not about being active.
    async fn action(&self, change: &ActivityChange<'_>) -> Result<Option<Action>, Error> {
        let ActivityChange { row, context, parameters, changes_plan } = change;
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
        let active = context.active.filter(|_| plans.suspended.contains(&row.plan_name));
        if row.expired_at.is_some() && active == Some(true) {
            return Err(Error::Bad(EXPIRED.into()));
        }
        let action = match self.course(&row.id).await? {
            Some(Course::Made(made)) => match active {
                Some(false) => Action::Suspend,
                Some(true) if !stands(&made) => Action::Return,
                Some(true) | None => return Ok(None),
            },
            Some(Course::Suspended(_)) if active == Some(true) => Action::Return,
            Some(Course::Suspended(gone)) if stands(&gone) => Action::Keep,
            Some(Course::Suspended(_)) => Action::Suspend,
            Some(Course::Removed(_)) | None => return Ok(None),
        };
        if !changes_parameters {
            return Ok(Some(action));
        }
        let text = if action == Action::Keep { SUSPENDED } else { TWO_REQUESTS };
        Err(Error::Unchangeable(text.into()))
    }
}
