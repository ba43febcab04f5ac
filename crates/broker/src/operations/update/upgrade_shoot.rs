//! Has the provisioner change the cluster.
//!
//! What a reader would get wrong: a call whose answer was lost is not lost. It carries a key that is the same in every run, and
//! the provisioner answers a repetition with what it began the first time.

use super::{Updating, changed};
use crate::operations::{
    creator,
    prelude::*,
    shared::{missing, runtime_id, tenant},
};

pub(super) struct UpgradeShoot;

impl Step<Updating> for UpgradeShoot {
    const NAME: &'static str = "Upgrade_Shoot";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        if cx.data.details.target_operation_id.is_some() {
            return done();
        }
        let runtime = runtime_id(cx)?;
        let order = changed(cx)?;
        let wanted = creator::change(order)?;
        let key = cx.key("order").formerly(1);
        let begun = cx.env.provisioner.upgrade_shoot(tenant(order), key, &runtime, &wanted).await?;
        let operation =
            begun.id.ok_or_else(|| missing("the provisioner did not say what it began"))?;
        cx.data.details.target_operation_id = Some(operation);
        done()
    }
}
