//! Removes the subaccount's data tenant, unless another instance of the subaccount needs it.

use clients::edp::Tenant;

use super::{Deprovisioning, as_transient, neighbours};
use crate::operations::prelude::*;

pub(super) struct EdpDeregistration;

impl Step<Deprovisioning> for EdpDeregistration {
    const NAME: &'static str = "EDP_Deregistration";
    const RETRY: Retry = Retry::every(secs(10));

    async fn run(&self, cx: &mut Cx<'_, Deprovisioning>) -> StepResult {
        let (env, input) = (cx.env, cx.input);
        let Some(edp) = &env.edp else { return done() };
        let subaccount = &input.order.context.subaccount_id;
        if !neighbours::in_subaccount(cx).await? {
            edp.deregister(&Tenant::of_subaccount(subaccount)).await.map_err(as_transient)?;
        }
        cx.data.details.edp_created = false;
        done()
    }
}
