//! Registers the subaccount with the event data platform.

use clients::edp::Tenant;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{require_client, update_instance},
};

pub(super) struct EdpRegistration {
    /// Whether an order fails without event data.
    pub(super) required: bool,
}

impl Step<Provisioning> for EdpRegistration {
    const NAME: &'static str = "EDP_Registration";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.edp_created {
            return done();
        }
        let edp = require_client(cx.env.edp.as_ref(), System::Edp)?;
        let order = &cx.input.order;
        let tenant = Tenant::of_subaccount(&order.context.subaccount_id);
        let metadata = tenant.metadata(&order.platform_region, &order.plan_name);
        match edp.register(&tenant, &metadata).await.map_err(StepError::from) {
            Ok(()) => {}
            Err(StepError::Fatal(failure)) if !self.required => {
                tracing::warn!(operation.id = %cx.operation, %failure, "EDP registration failed, continuing without it");
                cx.note(format!("EDP registration failed, continuing without it: {failure}"));
                return done();
            }
            Err(error) => return Err(error),
        }
        cx.data.edp_created = true;
        update_instance(cx, InstanceChange::default())?;
        done()
    }
}
