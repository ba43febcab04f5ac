//! What every step needs, as the broker's own prelude has it.

pub(crate) use std::time::Duration;

pub(crate) use engine::{Cx, Retry, Step, StepError, StepResult, done};

/// Seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Minutes.
pub(crate) const fn mins(minutes: u64) -> Duration {
    secs(minutes * 60)
}
