//! Tags the internal evaluation with where the runtime really is.

use super::Provisioning;
use crate::operations::{
    prelude::*,
    shared::{missing_data, require_client, runtime_id, tenant},
};

pub(super) struct AvsTags;

impl Step<Provisioning> for AvsTags {
    const NAME: &'static str = "AVS_Tags";
    const CALLS: &'static [&'static str] = &["avs", "provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(10));

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let avs = require_client(cx.env.avs.as_ref(), System::Avs)?;
        let evaluation = cx.data.avs.internal_id;
        let evaluation =
            evaluation.ok_or_else(|| missing_data("the internal evaluation is not known"))?;
        let runtime = runtime_id(cx)?;
        let status = cx.env.provisioner.runtime_status(tenant(&cx.input.order), &runtime).await?;
        let cluster = status.cluster().cloned().unwrap_or_default();
        let [shoot, seed, region] =
            [cluster.name, cluster.seed, cluster.region].map(Option::unwrap_or_default);
        let tags = avs.settings().additional_tags(&shoot, &seed, &region);
        avs.ensure_tags(evaluation, &tags).await?;
        done()
    }
}
