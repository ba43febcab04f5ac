//! Tells the component that leads old console addresses to the dashboard where to lead them.

use super::Provisioning;
use crate::operations::{prelude::*, shared::creator};

const COMPONENT: &str = "busola-migrator";

pub(super) struct BusolaMigratorOverrides;

impl Step<Provisioning> for BusolaMigratorOverrides {
    const NAME: &'static str = "BusolaMigratorOverrides";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let instance = &cx.input.order.instance_id;
        let overrides = creator(cx)?.overrides();
        overrides.set(Some(COMPONENT), "deployment.env.kubeconfigID", instance, false);
        overrides.set(Some(COMPONENT), "global.istio.gateway.name", "kyma-gateway", false);
        done()
    }
}
