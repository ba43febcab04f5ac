//! Works out what the change makes of the order as it is stored now: other changes may have ended since it was accepted.

use engine::{Operation, State};

use super::{Updating, plan_of, sends_plan, stored};
use crate::{
    Order,
    catalog::{Plan, PlatformRegion},
    operations::{
        prelude::*,
        provisioning::Provisioning,
        shared::instance::{self, refused},
    },
};

pub(super) struct UpdateKymaInitialization;

impl Step<Updating> for UpdateKymaInitialization {
    const NAME: &'static str = "Update_Kyma_Initialization";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(60)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        if cx.data.order.is_some() {
            return done();
        }
        let (order, details) = instance::current(cx.env, cx.instance, "changed").await?;
        cx.data.restores_plan = has_half_changed_plan(cx).await?;
        cx.data.orders_purpose = sends_plan(cx);
        cx.data.details = details;
        cx.data.order = Some(change(cx, &order)?);
        done()
    }
}

/// Whether a change of the plan has begun and not succeeded, since the last operation that gave every system the instance's own plan.
async fn has_half_changed_plan(cx: &Cx<'_, Updating>) -> Result<bool, StepError> {
    let engine = cx.env.store.engine();
    let all = engine.of_instances(&[cx.instance]).await.map_err(|error| stored(&error))?;
    let before = all.iter().take_while(|other| other.id != cx.operation);
    let mut unsuccessful = Vec::new();
    for other in before.filter(|other| other.started_at.is_some()) {
        match other.kind.as_str() {
            Updating::KIND | Provisioning::KIND if other.state == State::Succeeded => {
                unsuccessful.clear();
            }
            Updating::KIND => unsuccessful.push(other.id),
            _ => {}
        }
    }
    if unsuccessful.is_empty() {
        return Ok(false);
    }
    let contents = engine.readable_contents(&unsuccessful).await;
    let contents = contents.map_err(|error| stored(&error))?;
    // Of one that cannot be read nobody can say what it has changed.
    let unreadable = contents.len() < unsuccessful.len();
    Ok(unreadable || contents.iter().any(|content| !matches!(plan_of(&content.input), Ok(None))))
}

/// The order with the change in it.
fn change(cx: &Cx<'_, Updating>, order: &Order) -> Result<Order, StepError> {
    let catalog = &cx.env.catalog;
    let plan_id = cx.input.plan_id.as_deref().unwrap_or(&order.plan_id);
    let plan: &Plan = catalog
        .plan(plan_id)
        .ok_or_else(|| refused("unknown_plan", &format!("plan {plan_id} is not in the catalog")))?;
    let place = PlatformRegion {
        platform_region: order.platform_region.clone(),
        provider: order.platform_provider,
        eu_access: order.resolved.eu_access,
    };
    let mut order = order.clone();
    if cx.input.plan_id.is_some() {
        catalog.move_to(plan, &mut order.parameters, &mut order.resolved);
        plan.id().clone_into(&mut order.plan_id);
        plan.name().clone_into(&mut order.plan_name);
        order.plan_kind = plan.kind();
    }
    let said = &cx.input.parameters;
    let cluster = order.resolved.cluster.as_ref();
    let merged = catalog.merge(plan, &place, &order.parameters, cluster, said);
    let parameters =
        merged.map_err(|refusal| refused("invalid_parameters", &refusal.description))?;
    let context = cx.input.context.applied_to(&order.context);
    let license = cx.input.context.license_type.as_deref();
    let resolved = catalog.resolve_again(&order.resolved, said, license);
    Ok(Order { context, parameters, resolved, ..order })
}
