//! The scopes that routes ask for.

/// Order, change and remove instances.
pub const BROKER_WRITE: &str = "broker:write";
/// Read what runs, for metering.
pub const CLD_READ: &str = "cld:read";
/// See what runs, with its operations and events.
pub const RUNTIMES_READ: &str = "runtimes:read";
/// See orchestrations.
pub const ORCHESTRATIONS_READ: &str = "orchestrations:read";
/// Order upgrades of many runtimes; cancel and retry orchestrations.
pub const ORCHESTRATIONS_WRITE: &str = "orchestrations:write";
/// See operations.
pub const OPERATIONS_READ: &str = "operations:read";
/// Cancel operations.
pub const OPERATIONS_WRITE: &str = "operations:write";
/// Read metrics.
pub const METRICS_READ: &str = "metrics:read";
/// See runtimes and their operations in the provisioner.
pub const PROVISIONER_READ: &str = "provisioner:read";
/// Make, change and remove runtimes in the provisioner.
pub const PROVISIONER_WRITE: &str = "provisioner:write";
/// Read the kubeconfigs of runtimes from the provisioner.
pub const PROVISIONER_KUBECONFIG: &str = "provisioner:kubeconfig";
/// Fetch the kubeconfigs of instances from the broker.
pub const KUBECONFIG_READ: &str = "kubeconfig:read";
/// Speak for any tenant, with a token that names none.
pub const ANY_TENANT: &str = "tenants:any";

/// All of them.
pub const ALL: [&str; 13] = [
    BROKER_WRITE,
    CLD_READ,
    RUNTIMES_READ,
    ORCHESTRATIONS_READ,
    ORCHESTRATIONS_WRITE,
    OPERATIONS_READ,
    OPERATIONS_WRITE,
    METRICS_READ,
    PROVISIONER_READ,
    PROVISIONER_WRITE,
    PROVISIONER_KUBECONFIG,
    KUBECONFIG_READ,
    ANY_TENANT,
];
