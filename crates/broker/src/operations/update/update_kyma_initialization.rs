//! Works out what the change makes of the order as it is stored now: other changes may have ended since it was accepted.

use engine::{State, Storage};

use super::{Updating, stored};
use crate::{
    Details, Order,
    catalog::{Place, Plan},
    operations::{prelude::*, provisioning::Provisioning},
};
use engine::Operation;

pub(super) struct UpdateKymaInitialization;

impl Step<Updating> for UpdateKymaInitialization {
    const NAME: &'static str = "Update_Kyma_Initialization";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(1), secs(60)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        if cx.data.order.is_some() {
            return done();
        }
        let row = cx.env.store.find(cx.instance).await.map_err(|error| stored(&error))?;
        let Some(row) = row.filter(|row| row.deleted_at.is_none()) else {
            return Err(refused("instance_gone", "the instance was removed"));
        };
        if !was_made(cx).await? {
            let text = "the instance could not be provisioned, so it was not changed";
            return Err(refused("not_provisioned", text));
        }
        let order: Order = read(&row.order)?;
        let mut details: Details = match row.details.as_slice() {
            [] => Details::default(),
            bytes => read(bytes)?,
        };
        details.runtime_id = row.runtime_id.or(details.runtime_id);
        if details.runtime_id.is_none() {
            let text = "the instance has no runtime: it is suspended, so it was not changed";
            return Err(refused("suspended", text));
        }
        // That of the operation before.
        details.target_operation_id = None;
        cx.data.details = details;
        cx.data.order = Some(change(cx, &order)?);
        done()
    }
}

/// Whether the newest order for the runtime has ended well.
async fn was_made(cx: &Cx<'_, Updating>) -> Result<bool, StepError> {
    let made_by = cx.env.store.last_operation(cx.instance, Some(&[Provisioning::KIND])).await;
    let Some(made_by) = made_by.map_err(|error| stored(&error))? else { return Ok(true) };
    let found = cx.env.store.engine().read(made_by).await;
    let found = found.map_err(|error| StepError::internal(&error))?;
    Ok(found.is_none_or(|found| found.state == State::Succeeded))
}

/// The order with the change in it.
fn change(cx: &Cx<'_, Updating>, order: &Order) -> Result<Order, StepError> {
    let catalog = &cx.env.catalog;
    let plan_id = cx.input.plan_id.as_deref().unwrap_or(&order.plan_id);
    let plan: &Plan = catalog
        .plan(plan_id)
        .ok_or_else(|| refused("unknown_plan", &format!("plan {plan_id} is not in the catalog")))?;
    let place = Place {
        platform_region: order.platform_region.clone(),
        provider: order.platform_provider,
        eu_access: order.resolved.eu_access,
    };
    let mut order = order.clone();
    if cx.input.plan_id.is_some() {
        catalog.move_to(plan, &mut order.parameters, &mut order.resolved);
        order.plan_id = plan.id().to_owned();
        order.plan_name = plan.name().to_owned();
        order.plan_kind = plan.kind();
    }
    let said = &cx.input.parameters;
    let merged = catalog.merge(plan, &place, &order.parameters, said);
    let parameters =
        merged.map_err(|refusal| refused("invalid_parameters", &refusal.description))?;
    let context = cx.input.context.applied_to(&order.context);
    let license = cx.input.context.license_type.as_deref();
    let resolved = catalog.resolve_again(&order.resolved, said, license);
    Ok(Order { context, parameters, resolved, ..order })
}

fn refused(reason: &str, text: &str) -> StepError {
    StepError::fatal(Failure::new("broker", reason, text))
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, StepError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = format!("what is stored about the instance cannot be read: {error}");
        StepError::transient(Failure::new("store", "unreadable", text))
    })
}
