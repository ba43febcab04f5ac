//! The plan of an instance, and the one that a change moves it to.
//!
//! What a reader would get wrong: the row has the old plan until the operation that changes it has ended. What comes behind that
//! operation is judged by the plan that the instance has by then, and the judgement counts only if no other change of the plan was
//! accepted meanwhile.

use engine::storage::Snapshot;
use store::broker::Instance;
use uuid::Uuid;

use super::{Broker, Error, limits, pairs::UPDATE, requests::storable};
use crate::{Order, catalog::Plan, operations::update};

/// The accepted changes of an instance's plan that have not ended.
#[derive(Debug, Default)]
pub(super) struct PlanCourse {
    /// The plan that they lead to; none when there are none.
    plan_id: Option<String>,
    /// The operations.
    pub(super) operations: Vec<Uuid>,
}

/// The plans that a change is about.
pub(super) struct Plans<'a> {
    /// The plan that the instance has before the change.
    pub(super) present: &'a Plan,
    /// Whether it is not the one that the instance's row has: a change that was accepted leads there.
    pub(super) is_ahead: bool,
    /// The one that the change moves it to, if it does.
    pub(super) target: Option<&'a Plan>,
}

impl Broker {
    /// Where the accepted changes of an instance lead its plan. To be asked before its row is read: what has ended by then is in the row.
    pub(super) async fn plan_course(&self, instance: &str) -> Result<PlanCourse, Error> {
        let parts = self.parts();
        if !parts.offer.plan_updateable || storable("instance_id", instance).is_err() {
            return Ok(PlanCourse::default());
        }
        let is_going =
            |it: &Snapshot| it.kind == UPDATE && !it.state.is_final() && it.cancel.is_none();
        let all = parts.operations.of_instances(&[instance]).await?;
        let ids: Vec<Uuid> = all.iter().filter(|it| is_going(it)).map(|it| it.id).collect();
        let contents = parts.operations.contents(&ids).await?;
        let mut course = PlanCourse::default();
        for id in ids {
            let Some(content) = contents.iter().find(|it| it.operation == id) else { continue };
            if let Some(plan_id) = update::plan_of(&content.input)? {
                course.plan_id = Some(plan_id);
                course.operations.push(id);
            }
        }
        Ok(course)
    }

    /// The instance's plan behind everything that was accepted, and the one that the request changes it to, if it does.
    pub(super) fn plans_of(
        &self,
        row: &Instance,
        course: &PlanCourse,
        named: &str,
    ) -> Result<Plans<'_>, Error> {
        let parts = self.parts();
        let unknown = || Error::Bad("plan-id not in the catalog".into());
        let is_ahead = course.plan_id.is_some();
        let id = course.plan_id.as_ref().unwrap_or(&row.plan_id);
        let present = parts.catalog.plan(id).ok_or_else(unknown)?;
        let plans = |target| Plans { present, is_ahead, target };
        if named.is_empty() {
            return Ok(plans(None));
        }
        if named == present.id() {
            // A repetition of the change that leads there says so again.
            return Ok(plans(Some(present).filter(|_| is_ahead)));
        }
        // The platform names the plan that it knows until the change has ended. It does not ask for the way back.
        if is_ahead && named == row.plan_id {
            return Err(Error::Busy);
        }
        let other = parts.catalog.offered_plan(&parts.offer, named).ok_or_else(unknown)?;
        if parts.offer.plan_updateable && present.is_upgradable_to(other) {
            return Ok(plans(Some(other)));
        }
        Err(Error::PlanUnchangeable(format!(
            "the plan of an instance cannot be changed from {} to {}",
            present.name(),
            other.name()
        )))
    }

    /// Refuses a change to a plan of which the accounts have enough instances.
    pub(super) async fn check_limits(&self, row: &Instance, target: &Plan) -> Result<(), Error> {
        let limits = limits::of(target);
        let reached = self.parts().store.reached_by_change(row, &limits).await?;
        match reached {
            Some(which) => Err(limits::reached(target, which, true)),
            None => Ok(()),
        }
    }
}

/// The cluster stays where it is, so that the plan must have its provider.
pub(super) fn check_provider(order: &Order, from: &Plan, target: &Plan) -> Result<(), Error> {
    let provider = order.resolved.cluster.as_ref().map(|cluster| cluster.provider);
    if target.providers().any(|offered| Some(offered) == provider) {
        return Ok(());
    }
    Err(Error::PlanUnchangeable(format!(
        "the plan of an instance cannot be changed from {} to {}: its cluster is on {}",
        from.name(),
        target.name(),
        order.resolved.provider_word()
    )))
}
