//! Orders another configuration of a cluster from the provisioner.
//!
//! What a reader would get wrong: an operator's retry has the keys of the operation that it continues, and the provisioner answers
//! a repetition with what it began the first time. So what was ordered before and has failed since is ordered once more, under the
//! key of the next order.

use base::Key;
use clients::provisioner::{OperationState, Tenant, UpgradeShoot};
use engine::StepError;

use super::missing_data;
use crate::operations::env::Env;

/// Orders it, and gives the provisioner's operation. `before`: those that the operations before this one have ordered; `key`: of the n-th order.
pub(in crate::operations) async fn order(
    env: &Env,
    key: impl Fn(usize) -> Key,
    tenant: Tenant<'_>,
    runtime: &str,
    wanted: &UpgradeShoot,
    before: &[String],
) -> Result<String, StepError> {
    let mut operation = String::new();
    for nth in 1..=before.len() + 1 {
        let begun = env.provisioner.upgrade_shoot(tenant, key(nth), runtime, wanted).await?;
        let id = begun.id;
        operation = id.ok_or_else(|| missing_data("the provisioner did not say what it began"))?;
        if begun.state != OperationState::Failed || !before.contains(&operation) {
            break;
        }
    }
    Ok(operation)
}
