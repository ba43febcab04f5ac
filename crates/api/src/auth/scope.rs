//! The scopes that routes ask for.

/// Order, change and remove instances.
pub const BROKER_WRITE: &str = "broker:write";
/// Read what runs, for metering.
pub const CLD_READ: &str = "cld:read";
/// See operations.
pub const OPERATIONS_READ: &str = "operations:read";
/// Call operations off, order demonstrations.
pub const OPERATIONS_WRITE: &str = "operations:write";
/// Read metrics.
pub const METRICS_READ: &str = "metrics:read";

/// All of them.
pub const ALL: [&str; 5] =
    [BROKER_WRITE, CLD_READ, OPERATIONS_READ, OPERATIONS_WRITE, METRICS_READ];
