//! Has the runtime's availability watched from inside.

use clients::avs::Scope;
use serde_json::json;

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{evaluations::create, keep, needed},
};

pub(super) struct AvsCreateInternalEvalStep;

impl Step<Provisioning> for AvsCreateInternalEvalStep {
    const NAME: &'static str = "AVS_Create_Internal_Eval_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.avs.internal_id.is_some() && !cx.data.avs.internal_deleted {
            return done();
        }
        let avs = needed(cx.env.avs.as_ref(), "avs")?;
        let id = create(avs, &cx.input.order, Scope::Internal).await?;
        cx.data.avs.internal_id = Some(id);
        cx.data.avs.internal_deleted = false;
        keep(cx, json!({}))?;
        // It cannot be found again, so its id is kept before anything else happens.
        cx.save().await?;
        done()
    }
}
