//! A change of an instance: what the platform says about it is stored at once, what its runtime needs is an operation.
//!
//! What a reader would get wrong: nothing of a request that is refused is stored, so everything is checked before the first
//! write.

use domain::{OperationId, parameters};
use engine::{State, storage::Acceptance, storage::Snapshot};
use store::{Accepted, broker::Instance};

use super::{
    Broker, Caller, Error, Labels, Update,
    activity::{Activity, ActivityChange},
    labels, limits, orderer, pairs,
    stored::{self, Asked, AskedUpdate},
    suspension::{Course, EXPIRED},
};
use crate::{
    ContextChange, Order,
    catalog::{Change, Place, Plan, Refusal, Rule},
};

/// How often it is begun again when somebody else has changed the instance meanwhile.
const TRIES: usize = 5;

/// An accepted change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updated {
    /// The operation that carries the change to the runtime; none when the change is stored already.
    pub operation: Option<OperationId>,
    /// Where its owner manages the instance.
    pub dashboard_url: String,
    /// What its owner is told.
    pub labels: Labels,
}

/// A change that was checked against the instance that it is for.
struct Checked {
    row: Instance,
    order: Order,
    context: ContextChange,
    parameters: parameters::Update,
    /// The id of the plan that the instance changes to, if it changes.
    plan_id: Option<String>,
    /// Whether the runtime has to change with it.
    changes_runtime: bool,
}

impl Broker {
    /// Changes an instance.
    pub async fn update(&self, caller: &Caller, request: Update) -> Result<Updated, Error> {
        if request.service_id.is_empty() {
            return Err(Error::Bad("service_id missing".into()));
        }
        for _ in 0..TRIES {
            let checked = self.checked_update(caller, &request).await?;
            if let Some(updated) = self.apply_update(caller, &checked).await? {
                return Ok(updated);
            }
        }
        Err(Error::Busy)
    }

    /// Stores a change, or begins the operation that carries it. `None`: the instance was changed meanwhile, look again.
    async fn apply_update(
        &self,
        caller: &Caller,
        checked: &Checked,
    ) -> Result<Option<Updated>, Error> {
        let Checked { row, order, context, parameters, plan_id, changes_runtime } = checked;
        let changes_plan = plan_id.is_some();
        let activity = ActivityChange { row, context, parameters, changes_plan };
        match self.change_activity(caller, &activity).await? {
            Activity::Unchanged => {}
            Activity::Changed => return Ok(Some(self.updated(None, order))),
        }
        if *changes_runtime {
            let begun = self.begin_update(caller, checked).await?;
            let Some(operation) = begun else { return Ok(None) };
            // Whose instance it is, and whether it is active, does not depend on how the operation ends.
            self.store_context(&row.id, &context.at_once()).await?;
            return Ok(Some(self.updated(Some(operation), order)));
        }
        self.store_context(&row.id, context).await?;
        Ok(Some(self.updated(None, order)))
    }

    /// Begins the operation that carries a change to the runtime, or finds the one that does already. `None`: look again.
    async fn begin_update(
        &self,
        caller: &Caller,
        checked: &Checked,
    ) -> Result<Option<OperationId>, Error> {
        let Checked { row, order, context, parameters, plan_id, .. } = checked;
        let store = &self.parts().store;
        let id = OperationId::new();
        let said = context.later();
        // A change that leaves the plan as it is has the digest that it always had.
        let request = match plan_id {
            Some(plan_id) => serde_json::to_vec(&(parameters, &said, plan_id))?,
            None => serde_json::to_vec(&(parameters, &said))?,
        };
        // The operation counts to the account that the instance belongs to from now on.
        let present = context.at_once().applied_to(&order.context);
        let asked = Asked::by(caller, Order { context: present, ..order.clone() });
        let plan_id = plan_id.as_deref();
        let asked = AskedUpdate { asked: &asked, parameters, context: &said, plan_id };
        let operation = stored::update(id.uuid(), &asked, store.digest(&request))?;
        let pairs = |unfinished: &[_]| {
            pairs::update_verdict(unfinished, |digest| store.is_digest_of(&request, digest))
        };
        match store.accept(&row.id, row.revision, operation, &pairs, None).await? {
            Accepted::Yes(Acceptance::Started | Acceptance::Queued) => Ok(Some(id)),
            Accepted::Yes(Acceptance::Same(other)) => Ok(Some(other.into())),
            Accepted::Yes(Acceptance::Refused(_)) => Err(Error::Busy),
            Accepted::Changed | Accepted::Gone => Ok(None),
        }
    }

    /// Stores the context of a change; concurrent changes of the instance are kept.
    pub(super) async fn store_context(
        &self,
        instance: &str,
        change: &ContextChange,
    ) -> Result<(), Error> {
        for _ in 0..TRIES {
            // Removed meanwhile: there is nothing to be said about it any more.
            let Some(row) = self.parts().store.find(instance).await? else { return Ok(()) };
            let order: Order = serde_json::from_slice(&row.order)?;
            let context = change.applied_to(&order.context);
            if context == order.context {
                return Ok(());
            }
            let account = context.globalaccount_id.clone();
            let moved = (account != row.global_account).then_some(account.as_str());
            let mut changed = Order { context, ..order };
            if moved.is_some() {
                changed.subscription_account.get_or_insert(row.global_account);
            }
            let bytes = serde_json::to_vec(&changed)?;
            if self.parts().store.change_order(instance, row.revision, &bytes, moved).await? {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }

    fn updated(&self, operation: Option<OperationId>, order: &Order) -> Updated {
        Updated {
            operation,
            dashboard_url: order.dashboard_url.clone(),
            labels: labels::of(&self.parts().settings, order),
        }
    }

    /// Everything about a change that can be decided without writing. Clients see the first thing that is wrong, so the
    /// order of the checks is part of the protocol.
    async fn checked_update(&self, caller: &Caller, request: &Update) -> Result<Checked, Error> {
        let parts = self.parts();
        let id = &request.instance_id;
        let there = parts.store.find(id).await?;
        let row = there.filter(|row| caller.sees(&row.global_account)).ok_or_else(|| {
            Error::NotFound(format!("instance with instanceID {id} does not exist"))
        })?;
        if request.service_id != parts.catalog.service_id() {
            return Err(Error::Bad("service-id not in the catalog".into()));
        }
        let (present, target) = self.updated_plan(&row, &request.plan_id)?;
        if request.maintenance_version.is_some() {
            return Err(Error::MaintenanceInfo);
        }
        let order: Order = serde_json::from_slice(&row.order)?;
        let context = orderer::read_change(request.context.as_ref())?;
        if context.globalaccount_id.as_deref().is_some_and(|account| !caller.sees(account)) {
            return Err(Error::Foreign);
        }
        self.changeable(&row).await?;
        let mut stored = order.parameters.clone();
        if let Some(target) = target {
            check_provider(&order, target)?;
            self.check_limits(&row, target).await?;
            parts.catalog.move_to(target, &mut stored, &mut order.resolved.clone());
        }
        let change = Change {
            place: &place(&order),
            stored: &stored,
            parameters: request.parameters.as_ref(),
            active: context.active,
        };
        let plan = target.unwrap_or(present);
        let checked = parts.catalog.check_update(&parts.offer, plan, &change);
        let parameters = checked.map_err(refused)?;
        let plan_id = target.map(|target| target.id().to_owned());
        let changes_runtime = (request.parameters.is_some() && !parameters.expired)
            || context.reaches_runtime()
            || plan_id.is_some();
        if changes_runtime && row.expired_at.is_some() {
            return Err(Error::Bad(EXPIRED.into()));
        }
        if changes_runtime && !request.accepts_incomplete {
            return Err(Error::AsyncRequired);
        }
        Ok(Checked { row, order, context, parameters, plan_id, changes_runtime })
    }

    /// The instance's plan, and the one that the request changes it to, if it does.
    fn updated_plan(&self, row: &Instance, named: &str) -> Result<(&Plan, Option<&Plan>), Error> {
        let parts = self.parts();
        let unknown = || Error::Bad("plan-id not in the catalog".into());
        let plan = parts.catalog.plan(&row.plan_id).ok_or_else(unknown)?;
        if named.is_empty() || named == plan.id() {
            return Ok((plan, None));
        }
        let other = parts.catalog.offered_plan(&parts.offer, named).ok_or_else(unknown)?;
        if parts.offer.plan_updateable && plan.is_upgradable_to(other) {
            return Ok((plan, Some(other)));
        }
        Err(Error::Unchangeable(format!(
            "the plan of an instance cannot be changed from {} to {}",
            plan.name(),
            other.name()
        )))
    }

    /// Refuses a change to a plan of which the accounts have enough instances.
    async fn check_limits(&self, row: &Instance, target: &Plan) -> Result<(), Error> {
        let limits = limits::of(target);
        let reached = self.parts().store.reached_by_change(row, &limits).await?;
        match reached {
            Some(which) => Err(limits::reached(target, which, true)),
            None => Ok(()),
        }
    }

    /// Refuses the change of an instance that was never complete, or that is being removed or was.
    async fn changeable(&self, row: &Instance) -> Result<(), Error> {
        let failed = |it: &Snapshot| matches!(it.state, State::Failed | State::Canceled);
        let text = match self.course(&row.id).await? {
            // A return that failed is tried again; nothing else is.
            Some(Course::Made(made)) if failed(&made) && !stored::is_unsuspension(&made)? => {
                "an instance that could not be provisioned cannot be changed"
            }
            Some(Course::Removed(removal)) if !removal.state.is_final() => return Err(Error::Busy),
            Some(Course::Removed(_)) => "an instance that was deprovisioned cannot be changed",
            Some(Course::Made(_) | Course::Suspended(_)) | None => return Ok(()),
        };
        Err(Error::Unchangeable(text.into()))
    }
}

/// The cluster stays where it is, so that the plan must have its provider.
fn check_provider(order: &Order, target: &Plan) -> Result<(), Error> {
    let provider = order.resolved.cluster.as_ref().map(|cluster| cluster.provider);
    if target.providers().any(|offered| Some(offered) == provider) {
        return Ok(());
    }
    Err(Error::Unchangeable(format!(
        "the plan of an instance cannot be changed from {} to {}: its cluster is on {}",
        order.plan_name,
        target.name(),
        order.resolved.provider_word()
    )))
}

/// From where an instance was ordered.
fn place(order: &Order) -> Place {
    Place {
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
