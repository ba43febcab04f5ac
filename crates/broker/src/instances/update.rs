//! A change of an instance: what the platform says about it is stored at once, what its runtime needs is an operation.
//!
//! What a reader would get wrong: nothing of a request that is refused is stored. Everything is checked before the first write, and
//! what is stored beside an operation is stored in the transaction that accepts it.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::{OperationId, parameters};
use engine::{
    State,
    storage::{Acceptance, Snapshot, Unfinished, Verdict},
};
use store::{RowAcceptance, broker::Instance};

use super::{
    Broker, Caller, Error, Labels, Update,
    activity::{Action, ActivityChange},
    labels, orderer, pairs,
    plan_change::{PlanCourse, check_provider},
    stored::{self, StoredInput, StoredUpdateInput},
    suspension::{Course, DEPROVISIONED, EXPIRED, FAILED},
};
use crate::{
    ContextChange, Order,
    catalog::{Change, PlatformRegion, Refusal, Rule},
};

/// How often it begins again after a concurrent change of the instance.
const TRIES: usize = 5;

/// An accepted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedUpdate {
    /// The operation that carries the change to the runtime; none when the change is stored already.
    pub operation: Option<OperationId>,
    /// Where its owner manages the instance.
    pub dashboard_url: String,
    /// Labels for its owner.
    pub labels: Labels,
    /// Whose it was and whose it is, if that changed.
    pub moved: Option<AccountMove>,
}

/// An instance that changed its global account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountMove {
    /// The account that it was found in.
    pub from: String,
    /// The account that it belongs to now.
    pub to: String,
}

/// What a change would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// An operation changes the runtime.
    Runtime,
    /// The instance is suspended, comes back, or expires.
    Activity,
    /// Something is stored, or nothing changes.
    Stored,
}

impl Effect {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Activity => "activity",
            Self::Stored => "stored",
        }
    }
}

/// A change that was checked against the instance that it is for.
struct CheckedUpdate {
    row: Instance,
    order: Order,
    context: ContextChange,
    parameters: parameters::Update,
    /// The id of the plan that the instance changes to, if it changes.
    plan_id: Option<String>,
    /// The accepted changes of the plan that it was judged behind.
    plan_course: PlanCourse,
    /// What it comes to for an instance that is not, or not to stay, active.
    action: Option<Action>,
    /// Whether the runtime has to change with it.
    changes_runtime: bool,
}

impl Broker {
    /// Changes an instance.
    pub async fn update(&self, caller: &Caller, request: Update) -> Result<AcceptedUpdate, Error> {
        named_service(&request)?;
        for _ in 0..TRIES {
            let checked = self.checked_update(caller, &request).await?;
            let CheckedUpdate { row, order, context, .. } = &checked;
            let operation = match checked.action {
                Some(action) => {
                    self.act(caller, row, action, context).await?;
                    None
                }
                None if checked.changes_runtime => {
                    let begun = self.begin_update(caller, &checked).await?;
                    let Some(operation) = begun else { continue };
                    Some(operation)
                }
                None => {
                    self.store_context(&row.id, context).await?;
                    None
                }
            };
            return Ok(AcceptedUpdate {
                operation,
                dashboard_url: order.dashboard_url.clone(),
                labels: labels::of(&self.parts().settings, order),
                moved: account_move(row, context),
            });
        }
        Err(Error::Busy)
    }

    /// Checks a change as [`Self::update`] does, and changes nothing.
    pub async fn check_change(&self, caller: &Caller, request: &Update) -> Result<Effect, Error> {
        named_service(request)?;
        let checked = self.checked_update(caller, request).await?;
        Ok(match checked.action {
            Some(Action::Suspend | Action::Return | Action::Expire) => Effect::Activity,
            None if checked.changes_runtime => Effect::Runtime,
            Some(Action::Keep) | None => Effect::Stored,
        })
    }

    /// Begins the operation that carries a change to the runtime, or finds the one that does already. `None`: look again.
    ///
    /// The part of the context that the runtime does not change with does not depend on how the operation ends: it is stored when
    /// that is accepted.
    async fn begin_update(
        &self,
        caller: &Caller,
        checked: &CheckedUpdate,
    ) -> Result<Option<OperationId>, Error> {
        let CheckedUpdate { row, context, parameters, plan_id, plan_course, .. } = checked;
        let store = &self.parts().store;
        let id = OperationId::new();
        let said = context.later();
        // A change that leaves the plan as it is has the digest that it always had.
        let request = match plan_id {
            Some(plan_id) => serde_json::to_vec(&(parameters, &said, plan_id))?,
            None => serde_json::to_vec(&(parameters, &said))?,
        };
        let at_once = context.at_once();
        let changed = self.under_context(row, &at_once)?;
        // The operation counts to the account that the instance belongs to from now on.
        let asked = StoredInput::by(caller, changed.order.clone());
        let digest = pairs::update_digest(plan_id.is_some(), store.digest(&request));
        let plan_id = plan_id.as_deref();
        let asked = StoredUpdateInput { asked: &asked, parameters, context: &said, plan_id };
        let operation = stored::update(id.uuid(), &asked, digest)?;
        let is_outdated = AtomicBool::new(false);
        let pairs = |unfinished: &[Unfinished]| {
            let verdict =
                pairs::update_verdict(unfinished, |digest| store.is_digest_of(&request, digest));
            let outdated = verdict == Verdict::Queue
                && !pairs::are_plan_changes(unfinished, &plan_course.operations);
            is_outdated.store(outdated, Ordering::Relaxed);
            if outdated { Verdict::Refuse(id.uuid()) } else { verdict }
        };
        // Another plan is judged by the plan and the values that the instance has: they are still those that were read.
        let change = if plan_id.is_some() { changed.on_revision() } else { changed.change() };
        let accepted = store.accept_changing(&row.id, row.revision, operation, &pairs, change);
        match accepted.await? {
            RowAcceptance::Yes(Acceptance::Started | Acceptance::Queued) => Ok(Some(id)),
            RowAcceptance::Yes(Acceptance::Same(other)) => {
                self.store_context(&row.id, &at_once).await?;
                Ok(Some(other.into()))
            }
            RowAcceptance::Yes(Acceptance::Refused(_)) if is_outdated.into_inner() => Ok(None),
            RowAcceptance::Yes(Acceptance::Refused(_)) => Err(Error::Busy),
            RowAcceptance::Changed | RowAcceptance::Gone => Ok(None),
        }
    }

    /// Everything about a change that can be decided without writing. Clients see the first thing that is wrong, so the
    /// order of the checks is part of the protocol.
    async fn checked_update(
        &self,
        caller: &Caller,
        request: &Update,
    ) -> Result<CheckedUpdate, Error> {
        let parts = self.parts();
        let id = &request.instance_id;
        let plan_course = self.plan_course(id).await?;
        let there = parts.store.find(id).await?;
        let row = there.filter(|row| caller.sees(&row.global_account)).ok_or_else(|| {
            Error::NotFound(format!("instance with instanceID {id} does not exist"))
        })?;
        if request.service_id != parts.catalog.service_id() {
            return Err(Error::Bad("service-id not in the catalog".into()));
        }
        let plans = self.plans_of(&row, &plan_course, &request.plan_id)?;
        if request.maintenance_version.is_some() {
            return Err(Error::MaintenanceInfo);
        }
        let order: Order = serde_json::from_slice(&row.order)?;
        let context = orderer::read_change(request.context.as_ref())?;
        if context.globalaccount_id.as_deref().is_some_and(|account| !caller.sees(account)) {
            return Err(Error::Foreign);
        }
        let course = self.course(&row.id).await?;
        changeable(course.as_ref())?;
        let (mut stored, mut resolved) = (order.parameters.clone(), order.resolved.clone());
        if plans.is_ahead {
            parts.catalog.move_to(plans.present, &mut stored, &mut resolved);
        }
        if let Some(target) = plans.target {
            check_provider(&order, plans.present, target)?;
            self.check_limits(&row, target).await?;
            parts.catalog.move_to(target, &mut stored, &mut resolved);
        }
        let change = Change {
            place: &place(&order),
            stored: &stored,
            cluster: resolved.cluster.as_ref(),
            parameters: request.parameters.as_ref(),
            active: context.active,
        };
        let plan = plans.target.unwrap_or(plans.present);
        let checked = parts.catalog.check_update(&parts.offer, plan, &change);
        let parameters = checked.map_err(refused)?;
        let plan_id = plans.target.map(|target| target.id().to_owned());
        let changes_values =
            (request.parameters.is_some() && !parameters.expired) || plan_id.is_some();
        if changes_values && row.expired_at.is_some() {
            return Err(Error::Bad(EXPIRED.into()));
        }
        let action = self.action(&ActivityChange {
            row: &row,
            course: course.as_ref(),
            context: &context,
            parameters: &parameters,
            changes_plan: plan_id.is_some(),
        })?;
        // Without a runtime, or on the way there, nothing has to be waited for.
        let changes_runtime = action.is_none() && (changes_values || context.reaches_runtime());
        if changes_runtime && row.expired_at.is_some() {
            return Err(Error::Bad(EXPIRED.into()));
        }
        if changes_runtime && !request.accepts_incomplete {
            return Err(Error::AsyncRequired);
        }
        Ok(CheckedUpdate {
            row,
            order,
            context,
            parameters,
            plan_id,
            plan_course,
            action,
            changes_runtime,
        })
    }
}

/// Refuses the change of an instance that was never complete, or that is being removed or was.
fn changeable(course: Option<&Course>) -> Result<(), Error> {
    let failed = |it: &Snapshot| matches!(it.state, State::Failed | State::Canceled);
    let text = match course {
        // A return that failed is tried again; nothing else is.
        Some(Course::Made(made)) if failed(made) && !stored::is_unsuspension(made)? => FAILED,
        Some(Course::Removed(removal)) if !removal.state.is_final() => return Err(Error::Busy),
        Some(Course::Removed(_)) => DEPROVISIONED,
        Some(Course::Made(_) | Course::Suspended(_)) | None => return Ok(()),
    };
    Err(Error::Unchangeable(text.into()))
}

fn account_move(row: &Instance, context: &ContextChange) -> Option<AccountMove> {
    let to = context.globalaccount_id.clone().filter(|account| *account != row.global_account)?;
    Some(AccountMove { from: row.global_account.clone(), to })
}

fn named_service(request: &Update) -> Result<(), Error> {
    if request.service_id.is_empty() {
        return Err(Error::Bad("service_id missing".into()));
    }
    Ok(())
}

/// From where an instance was ordered.
fn place(order: &Order) -> PlatformRegion {
    PlatformRegion {
        platform_region: order.platform_region.clone(),
        provider: order.platform_provider,
        eu_access: order.resolved.eu_access,
    }
}

/// Platforms know values that cannot be together as 422 in a change, as they always were.
fn refused(refusal: Refusal) -> Error {
    match refusal.rule {
        Rule::AutoScaler | Rule::Oidc => Error::Unprocessable(refusal),
        _ => Error::Refused(refusal),
    }
}
