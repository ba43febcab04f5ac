//! Has the runtime's availability watched from inside and from outside, and tells the runtime how to report.

use clients::avs::Scope;
use store::broker::InstanceChange;

use super::super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{creator, evaluations::create, require_client, update_instance},
};

const COMPONENT: &str = "avs-bridge";

pub(super) struct AvsConfigurationStep;

impl Step<Provisioning> for AvsConfigurationStep {
    const NAME: &'static str = "AVS_Configuration_Step";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(30));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let avs = require_client(cx.env.avs.as_ref(), System::Avs)?;
        let internal = match cx.data.avs.internal_id {
            Some(kept) => kept,
            None => {
                let (made, created) = create(cx, avs, Scope::Internal).await?;
                cx.data.avs.internal_id = Some(made);
                update_instance(
                    cx,
                    InstanceChange { created: Some(created.call), ..InstanceChange::default() },
                )?;
                cx.save().await?;
                created.stored();
                made
            }
        };
        if cx.data.avs.external_id.is_none() {
            let scope = Scope::External { domain: &cx.input.order.shoot_domain };
            let (made, created) = create(cx, avs, scope).await?;
            cx.data.avs.external_id = Some(made);
            update_instance(
                cx,
                InstanceChange { created: Some(created.call), ..InstanceChange::default() },
            )?;
            cx.save().await?;
            created.stored();
        }
        let key = "avs_bridge.config.evaluations.cluster.id";
        creator(cx)?.overrides().set(Some(COMPONENT), key, &internal.to_string(), false);
        done()
    }
}
