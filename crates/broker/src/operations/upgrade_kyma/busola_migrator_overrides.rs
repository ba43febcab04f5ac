//! Tells the component that leads old console addresses to the dashboard where to lead them.

use super::{UpgradingKyma, creator};
use crate::operations::prelude::*;

pub(super) struct BusolaMigratorOverrides;

impl Step<UpgradingKyma> for BusolaMigratorOverrides {
    const NAME: &'static str = "BusolaMigratorOverrides";

    async fn run(&self, cx: &mut Cx<'_, UpgradingKyma>) -> StepResult {
        let instance = cx.instance;
        creator(cx)?.lead_to_dashboard(instance);
        done()
    }
}
