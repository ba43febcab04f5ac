//! What every step needs.

pub(crate) use std::time::Duration;

pub(crate) use engine::{Cx, Retry, Step, StepResult, done, waiting};

/// Seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
