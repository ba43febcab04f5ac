//! How long operations, and what they wait for, may take, and what happens then.

use std::time::Duration;

/// How long things may take, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProvisioningLimits {
    /// One provisioning in all.
    pub provisioning: Duration,
    /// The provisioner, with one runtime.
    pub runtime: Duration,
    /// The Reconciler, with one configuration.
    pub reconciler: Duration,
    /// How long the pool may have no provider account.
    pub accounts: Duration,
    /// How long `AvS` may fail; twice as long once the runtime is there.
    pub avs: Duration,
    /// How long EDP may fail.
    pub edp: Duration,
    /// Whether an order fails when EDP does; it goes on without event data otherwise.
    pub edp_required: bool,
}

impl Default for ProvisioningLimits {
    fn default() -> Self {
        Self {
            provisioning: Duration::from_hours(24),
            runtime: Duration::from_hours(6),
            reconciler: Duration::from_hours(2),
            accounts: Duration::from_mins(10),
            avs: Duration::from_mins(10),
            edp: Duration::from_mins(30),
            edp_required: false,
        }
    }
}
