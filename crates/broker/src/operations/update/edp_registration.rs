//! Tells the event data platform the plan that the subaccount pays for from now on.

use clients::edp::Tenant;

use super::{Updating, changed};
use crate::operations::{prelude::*, shared::require_client};

pub(super) struct EdpRegistration;

impl Step<Updating> for EdpRegistration {
    const NAME: &'static str = "EDP_Registration";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        if !cx.data.details.edp_created {
            return done();
        }
        let edp = require_client(cx.env.edp.as_ref(), System::Edp)?;
        let order = changed(cx)?;
        let tenant = Tenant::of_subaccount(&order.context.subaccount_id);
        edp.register(&tenant, &tenant.metadata(&order.platform_region, &order.plan_name)).await?;
        done()
    }
}
