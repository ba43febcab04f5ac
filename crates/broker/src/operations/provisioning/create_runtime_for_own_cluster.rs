//! Gives the cluster that the order brings an id: nobody else does.

use store::broker::{InstanceChange, RuntimeId};
use uuid::Uuid;

use super::Provisioning;
use crate::operations::{prelude::*, shared::update_instance};

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
        let change = InstanceChange {
            runtime_id: RuntimeId::Set(runtime),
            provider: Some(resolved.provider_word().into()),
            region: Some(resolved.region_word().into()),
            ..InstanceChange::default()
        };
        update_instance(cx, change)?;
        done()
    }
}
