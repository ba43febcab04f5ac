//! Has the provisioner change the cluster.
//!
//! What a reader would get wrong: a call whose answer was lost is not lost. It carries a key that is the same in every run, and
//! the provisioner answers a repetition with what it began the first time.

use base::Key;

use super::{Updating, changed};
use crate::operations::{
    creator,
    prelude::*,
    shared::{ordering, runtime_id, tenant},
};

pub(super) struct UpgradeShoot;

impl Step<Updating> for UpgradeShoot {
    const NAME: &'static str = "Upgrade_Shoot";
    const CALLS: &'static [&'static str] = &["provisioner"];
    const RETRY: Retry = Retry::DEFAULT.backing_off(secs(5), mins(1)).failing_for(mins(60));

    async fn run(&self, cx: &mut Cx<'_, Updating>) -> StepResult {
        if cx.data.details.target_operation_id.is_none() {
            let key = cx.key("order");
            order(cx, |nth| key.nth(nth).formerly(nth)).await?;
        }
        done()
    }
}

/// Orders the change. An operation that continues another one orders again what that one has ordered.
pub(super) async fn order(
    cx: &mut Cx<'_, Updating>,
    key: impl Fn(usize) -> Key,
) -> Result<(), StepError> {
    let runtime = runtime_id(cx)?;
    let mut before = cx.data.ordered_before.clone();
    before.extend(cx.data.details.target_operation_id.clone());
    let order = changed(cx)?;
    let wanted = creator::change(order, cx.data.orders_purpose)?;
    let operation = ordering::order(cx.env, key, tenant(order), &runtime, &wanted, &before).await?;
    cx.data.ordered_before = before;
    cx.data.details.target_operation_id = Some(operation);
    cx.data.ordered_by = Some(cx.operation);
    Ok(())
}
