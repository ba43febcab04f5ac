//! Has a logging tenant made for the global account. A runtime does without logging if that does not work.

use serde_json::json;

use super::super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{keep, needed, outlasted},
};

/// How long it may fail.
const PATIENCE: Duration = mins(3);

pub(super) struct CreateLmsTenant;

impl Step<Provisioning> for CreateLmsTenant {
    const NAME: &'static str = "Create_LMS_Tenant";
    const RETRY: Retry =
        Retry::DEFAULT.backing_off(secs(5), secs(30)).failing_for(PATIENCE).then_skip();

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.lms.tenant_id.is_some() || cx.data.lms.failed {
            return done();
        }
        let lms = needed(cx.env.lms.as_ref(), "lms")?;
        let order = &cx.input.order;
        let cluster = order.resolved.cluster.as_ref();
        let region = lms.region(cluster.map(|cluster| cluster.region.as_str()));
        let mut asked_at = Some(*cx.data.lms.requested_at.get_or_insert(cx.now));
        let account = &order.context.globalaccount_id;
        match lms.create_tenant(account, &region).await.map_err(StepError::from) {
            Ok(tenant) => cx.data.lms.tenant_id = Some(tenant),
            Err(error) => {
                let failure = outlasted(error, &mut asked_at, cx.now, PATIENCE)?;
                tracing::warn!(operation.id = %cx.operation, %failure, "the runtime goes without logging");
                cx.data.lms.failed = true;
            }
        }
        keep(cx, json!({}))?;
        cx.save().await?;
        done()
    }
}
