//! Failures that end an operation in its first step, before it changes anything: it has found no instance, or none with a runtime.
//!
//! They are stored with operations and do not change: an older operation of the instance can be retried in spite of them.

use base::Failure;

/// Their component.
pub const COMPONENT: &str = "broker";
/// The instance was removed.
pub const INSTANCE_GONE: &str = "instance_gone";
/// The instance could not be provisioned.
pub const NOT_PROVISIONED: &str = "not_provisioned";
/// The instance is suspended.
pub const SUSPENDED: &str = "suspended";

pub(super) fn is_one(failure: &Failure) -> bool {
    let reasons = [INSTANCE_GONE, NOT_PROVISIONED, SUSPENDED];
    failure.component == COMPONENT && reasons.contains(&failure.reason.as_str())
}
