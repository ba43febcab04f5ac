//! Has the runtime's availability watched from inside.

use clients::avs::Scope;
use store::broker::InstanceChange;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{evaluations::create, require_client, update_instance},
};

pub(super) struct AvsCreateInternalEvalStep;

impl Step<Provisioning> for AvsCreateInternalEvalStep {
    const NAME: &'static str = "AVS_Create_Internal_Eval_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.avs.internal_id.is_some() && !cx.data.avs.internal_deleted {
            return done();
        }
        let avs = require_client(cx.env.avs.as_ref(), System::Avs)?;
        let scope = Scope::Internal;
        let (id, created) = create(cx, avs, scope).await?;
        cx.data.avs.internal_id = Some(id);
        cx.data.avs.internal_deleted = false;
        update_instance(
            cx,
            InstanceChange { created: Some(created.call), ..InstanceChange::default() },
        )?;
        cx.save().await?;
        created.stored();
        done()
    }
}
