//! Gives the cluster that the order brings an id: nobody else does.

use serde_json::json;
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{prelude::*, shared::keep};

pub(super) struct CreateRuntimeForOwnCluster;

impl Step<Provisioning> for CreateRuntimeForOwnCluster {
    const NAME: &'static str = "Create_Runtime_For_Own_Cluster";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        if cx.data.runtime_id.is_some() {
            return done();
        }
        let runtime = Uuid::new_v4();
        cx.data.runtime_id = Some(runtime);
        cx.data.target_operation_id = None;
        let resolved = &cx.input.order.resolved;
        let (provider, region) = (resolved.provider_word(), resolved.region_word());
        keep(cx, json!({"runtime_id": runtime, "provider": provider, "region": region}))?;
        done()
    }
}
