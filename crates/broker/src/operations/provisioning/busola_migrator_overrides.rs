//! Tells the component that leads old console addresses to the dashboard where to lead them.

use super::Provisioning;
use crate::operations::{prelude::*, shared::creator};

pub(super) struct BusolaMigratorOverrides;

impl Step<Provisioning> for BusolaMigratorOverrides {
    const NAME: &'static str = "BusolaMigratorOverrides";

    async fn run(&self, cx: &mut Cx<'_, Provisioning>) -> StepResult {
        let instance = &cx.input.order.instance_id;
        creator(cx)?.lead_to_dashboard(instance);
        done()
    }
}
