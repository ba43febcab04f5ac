//! How often a step is tried, for how long, and what happens then.
//!
//! Intervals are computed from how long the step has been failing or waiting, not from a number of
//! tries: the two clocks are stored, a counter would not need to be.

use std::time::Duration;

/// The action when a step's limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtLimit {
    /// The operation fails.
    Fail,
    /// The step is recorded as executed but not completed, and the plan goes on.
    Skip,
}

/// How often a step is tried, for how long, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The first interval after an error; it doubles up to `back_off_most`.
    pub back_off: Duration,
    /// The longest interval after an error.
    pub back_off_most: Duration,
    /// The first interval while waiting; it grows with the time waited up to `poll_most`.
    pub poll: Duration,
    /// The longest interval while waiting.
    pub poll_most: Duration,
    /// The interval while waiting is this part of the time waited.
    pub poll_part: u32,
    /// How long it may fail in a row.
    pub failing_for: Duration,
    /// How long it may wait; without it, the operation's limit is the only one.
    pub waiting_for: Option<Duration>,
    /// How long one run may take.
    pub deadline: Duration,
    /// The action when a limit is reached.
    pub at_limit: AtLimit,
}

impl Retry {
    /// Errors after 1 s, doubling up to a minute, for half an hour; polls from 1 s up to 30 s.
    pub const DEFAULT: Self = Self {
        back_off: Duration::from_secs(1),
        back_off_most: Duration::from_secs(60),
        poll: Duration::from_secs(1),
        poll_most: Duration::from_secs(30),
        poll_part: 4,
        failing_for: Duration::from_secs(30 * 60),
        waiting_for: None,
        deadline: Duration::from_secs(120),
        at_limit: AtLimit::Fail,
    };

    /// The same interval after every error and while waiting.
    pub const fn every(interval: Duration) -> Self {
        Self {
            back_off: interval,
            back_off_most: interval,
            poll: interval,
            poll_most: interval,
            ..Self::DEFAULT
        }
    }

    /// Intervals after errors, from `first` doubling up to `most`.
    pub const fn backing_off(self, first: Duration, most: Duration) -> Self {
        Self { back_off: first, back_off_most: most, ..self }
    }

    /// Intervals while waiting, from `first` growing up to `most`.
    pub const fn polling(self, first: Duration, most: Duration) -> Self {
        Self { poll: first, poll_most: most, ..self }
    }

    /// The interval while waiting grows to a tenth of the time waited instead of a quarter: for waits that end within seconds or
    /// minutes and of which nobody sends a signal.
    pub const fn closely(self) -> Self {
        Self { poll_part: 10, ..self }
    }

    /// Gives up after failing in a row for this long.
    pub const fn failing_for(self, limit: Duration) -> Self {
        Self { failing_for: limit, ..self }
    }

    /// Gives up after waiting for this long.
    pub const fn waiting_for(self, limit: Duration) -> Self {
        Self { waiting_for: Some(limit), ..self }
    }

    /// Ends a run that takes longer.
    pub const fn each_within(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// At a limit the plan goes on; the step is recorded as executed but not completed.
    pub const fn then_skip(self) -> Self {
        Self { at_limit: AtLimit::Skip, ..self }
    }

    /// How long it may take at most: failing for as long as it may, and then waiting for as long as it may. A step
    /// without a limit for waiting is taken as one that does not wait.
    pub fn budget(&self) -> Duration {
        self.failing_for + self.waiting_for.unwrap_or_default()
    }

    /// The interval after an error, when the step has been failing for `failing`.
    pub fn after_error(&self, failing: Duration) -> Duration {
        failing.clamp(self.back_off.min(self.back_off_most), self.back_off_most)
    }

    /// The interval while waiting, when the step has been waiting for `waiting`.
    pub fn while_waiting(&self, waiting: Duration) -> Duration {
        (waiting / self.poll_part.max(1)).clamp(self.poll.min(self.poll_most), self.poll_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn intervals_after_errors_double_up_to_the_longest() {
        let mut failing = Duration::ZERO;
        let mut intervals = Vec::new();
        for _ in 0..8 {
            let interval = Retry::DEFAULT.after_error(failing);
            failing += interval;
            intervals.push(interval.as_secs());
        }

        assert_eq!(intervals, [1, 1, 2, 4, 8, 16, 32, 60]);
    }

    #[test]
    fn a_step_may_fail_and_then_wait_for_as_long_as_its_limits_say() {
        let retry = Retry::DEFAULT.failing_for(60 * SECOND);

        assert_eq!(retry.budget(), 60 * SECOND);
        assert_eq!(retry.waiting_for(30 * SECOND).budget(), 90 * SECOND);
    }

    #[test]
    fn polling_starts_short_and_grows() {
        assert_eq!(Retry::DEFAULT.while_waiting(Duration::ZERO), SECOND);
        assert_eq!(Retry::DEFAULT.while_waiting(40 * SECOND), 10 * SECOND);
        assert_eq!(Retry::DEFAULT.while_waiting(3600 * SECOND), 30 * SECOND);
    }

    #[test]
    fn close_polling_is_late_by_a_tenth_and_is_bounded() {
        let close = Retry::DEFAULT.polling(SECOND / 2, 30 * SECOND).closely();
        assert_eq!(close.while_waiting(Duration::ZERO), SECOND / 2);
        assert_eq!(close.while_waiting(40 * SECOND), 4 * SECOND);

        let polls_within = |retry: Retry, end: Duration| {
            let (mut waiting, mut polls) = (Duration::ZERO, 0);
            while waiting < end {
                waiting += retry.while_waiting(waiting);
                polls += 1;
            }
            polls
        };
        let hour = 3600 * SECOND;
        assert_eq!(polls_within(close, hour) - polls_within(Retry::DEFAULT, hour), 27);
    }
}
