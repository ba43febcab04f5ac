//! Finds out which Kyma the runtime has, and with which configuration the Reconciler installed it.

use clients::reconciler::Cluster;

use super::{Updating, changed, sends_plan, stored};
use crate::{
    details::RuntimeVersion,
    operations::{creator, prelude::*},
};

pub(super) struct UpdateInitKymaVersion;

impl Step<Updating> for UpdateInitKymaVersion {
    const NAME: &'static str = "Update_Init_Kyma_Version";
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), secs(30)).failing_for(mins(5));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        let Some(runtime) = cx.data.details.runtime_id else { return done() };
        let last = cx.env.store.latest_runtime_state(runtime, Some("cluster-setup")).await;
        if let Some(last) = last.map_err(|error| stored(&error))? {
            let mut configuration: Cluster =
                serde_json::from_slice(&last.payload).map_err(|error| {
                    let text =
                        format!("the Reconciler's last configuration cannot be read: {error}");
                    StepError::fatal(Failure::new("store", "unreadable", text))
                })?;
            if cx.data.details.runtime_version.is_none() {
                let version = configuration.kyma_config.version.clone();
                let major = creator::major(&version, &cx.env.settings.default_kyma_version);
                let origin = "runtime-state".to_owned();
                cx.data.details.runtime_version = Some(RuntimeVersion { version, origin, major });
            }
            if sends_plan(cx) {
                creator::change_plan(&mut configuration, changed(cx)?);
            }
            cx.memory.configuration = Some(configuration);
        }
        cx.memory.requires_reconciler_update =
            cx.input.parameters.kubeconfig.is_some() || sends_plan(cx);
        done()
    }
}
