//! Has the runtime's availability watched from outside, now that there is something to see.

use clients::avs::Scope;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{evaluations::create, require_client, update_instance},
};

pub(super) struct AvsCreateExternalEvalStep;

impl Step<Provisioning> for AvsCreateExternalEvalStep {
    const NAME: &'static str = "AVS_Create_External_Eval_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(20));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.avs.external_id.is_some() && !cx.data.avs.external_deleted {
            return done();
        }
        let avs = require_client(cx.env.avs.as_ref(), System::Avs)?;
        let scope = Scope::External { domain: &cx.input.order.shoot_domain };
        let (id, created) = create(cx, avs, scope).await?;
        cx.data.avs.external_id = Some(id);
        cx.data.avs.external_deleted = false;
        update_instance(
            cx,
            InstanceChange { created: Some(created.call), ..InstanceChange::default() },
        )?;
        cx.save().await?;
        created.stored();
        done()
    }
}
