//! Makes the logging tenant of the global account, unless it is there. A tenant that is not to be had is no reason to give up
//! the runtime, unless logging is mandatory.
//!
//! What a reader would get wrong: the service cannot be asked which tenants it has, so the broker's own books say it. A step that
//! died after it asked, or never heard the answer, asks again; the tenant that may have come of it is listed as one that may exist.

use clients::lms::{COMPONENT, tenant_name};
use domain::plan::Kind as PlanKind;
use engine::{Applies, Condition};
use store::broker::{InstanceChange, LmsTenant};

use super::super::Provisioning;
use crate::{
    creations::{CreatedObject, PlannedCreation},
    operations::{
        env::Logging,
        prelude::*,
        shared::{outlasted, require_client, update_instance},
    },
};

/// How long it may fail, and how long another order may be at it.
const PATIENCE: Duration = mins(3);

pub(super) struct CreateLmsTenant;

/// Only for global accounts that get logging, and never to try something out.
pub(super) const fn is_logged() -> Condition<Provisioning> {
    Condition::new("logging is on for the global account, and the plan is not trial", |cx| {
        let order = &cx.input.order;
        let enabled = cx.env.lms.as_ref().map(|logging| &logging.enabled);
        let enabled = enabled.is_some_and(|of| of.includes(&order.context.globalaccount_id));
        let tried = order.plan_kind == PlanKind::Trial;
        Applies::when(enabled && !tried, "the global account or the plan gets no logging")
    })
}

impl Step<Provisioning> for CreateLmsTenant {
    const NAME: &'static str = "Create_LMS_Tenant";
    const RETRY: Retry = Retry::DEFAULT
        .polling(secs(5), secs(30))
        .backing_off(secs(5), secs(30))
        .waiting_for(mins(6))
        .failing_for(PATIENCE)
        .then_skip();

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.lms.tenant_id.is_some() || cx.data.lms.failed {
            return done();
        }
        let logging = require_client(cx.env.lms.as_ref(), System::Lms)?;
        let mut asked_at = Some(*cx.data.lms.requested_at.get_or_insert(cx.now));
        match tenant(cx, logging).await {
            Ok(Some((tenant, created))) => {
                cx.data.lms.tenant_id = Some(tenant);
                let created_by = created.as_ref().map(|created| created.call);
                update_instance(
                    cx,
                    InstanceChange { created: created_by, ..InstanceChange::default() },
                )?;
                cx.save().await?;
                if let Some(created) = created {
                    created.stored();
                }
                return done();
            }
            Ok(None) => return waiting("another order makes the logging tenant").into(),
            Err(error) => {
                let failure = outlasted(error, &mut asked_at, cx.now, PATIENCE)?;
                if logging.mandatory {
                    return Err(StepError::Fatal(failure));
                }
                tracing::warn!(operation.id = %cx.operation, %failure, "LMS failed, continuing without logging");
                cx.data.lms.failed = true;
            }
        }
        update_instance(cx, InstanceChange::default())?;
        cx.save().await?;
        done()
    }
}

/// The tenant of the global account, and the call that made it if this order did; nothing while another order makes it.
async fn tenant(
    cx: &Cx<'_, Provisioning>,
    logging: &Logging,
) -> Result<Option<(String, Option<CreatedObject>)>, StepError> {
    let order = &cx.input.order;
    let cluster = order.resolved.cluster.as_ref();
    let region = logging.client.region(cluster.map(|cluster| cluster.region.as_str()));
    let account = &order.context.globalaccount_id;
    let (name, books) = (tenant_name(account), &cx.env.store);
    let internal = |error: store::Error| StepError::internal(&error);
    let claim = books.claim_lms_tenant(&name, &region, cx.operation, PATIENCE).await;
    match claim.map_err(internal)? {
        LmsTenant::Known(tenant) => Ok(Some((tenant, None))),
        LmsTenant::Others => Ok(None),
        LmsTenant::Mine => {
            let named = format!("{name} in {region}");
            let (instance, operation) = (cx.instance, cx.root);
            let thing = PlannedCreation { system: COMPONENT.0, name: &named, instance, operation };
            let call = logging.client.create_tenant(account, &region);
            let made = cx.env.creations.create(thing, call).await?;
            let kept = books.keep_lms_tenant(&name, &region, cx.operation, &made.id).await;
            // Another order was faster: the one that was made here stays listed, since nobody uses it.
            Ok(kept.map_err(internal)?.map(|kept| {
                let mine = (kept == made.id).then_some(made);
                (kept, mine)
            }))
        }
    }
}
