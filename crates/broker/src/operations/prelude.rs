//! Imports of every step.

pub(crate) use std::time::Duration;

pub(crate) use base::Failure;
pub(crate) use engine::{Cx, Retry, Step, StepError, StepResult, done, waiting};

pub(crate) use super::systems::System;

/// Milliseconds.
pub(crate) const fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Seconds.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Minutes.
pub(crate) const fn mins(minutes: u64) -> Duration {
    secs(minutes * 60)
}
