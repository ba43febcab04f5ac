//! How long operations may take.

use std::time::Duration;

use async_graphql::SimpleObject;
use provisioner::limits::LongestOperations;

/// The longest that each operation may take, in seconds.
#[derive(SimpleObject)]
pub(in crate::graphql) struct OperationLimits {
    provisioning: i32,
    upgrade: i32,
    upgrade_shoot: i32,
    deprovisioning: i32,
    hibernation: i32,
    reconnection: i32,
}

impl OperationLimits {
    pub(in crate::graphql) fn of(longest: LongestOperations) -> Self {
        let LongestOperations {
            provisioning,
            upgrade,
            upgrade_shoot,
            deprovisioning,
            hibernation,
            reconnection,
        } = longest;
        let seconds = |time: Duration| i32::try_from(time.as_secs()).unwrap_or(i32::MAX);
        Self {
            provisioning: seconds(provisioning),
            upgrade: seconds(upgrade),
            upgrade_shoot: seconds(upgrade_shoot),
            deprovisioning: seconds(deprovisioning),
            hibernation: seconds(hibernation),
            reconnection: seconds(reconnection),
        }
    }
}
