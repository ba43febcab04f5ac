//! How long and how often something is tried within one run, over all its calls.

use std::time::Duration;

use base::Clock;

use crate::error::{Error, Kind};

/// How much one run puts up with, in all.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How many calls may be made again, over all pages.
    pub retries: u32,
    /// How long to wait before that, unless the other side wants more.
    pub pause: Duration,
    /// How long to wait between two pages.
    pub between: Duration,
    /// How long it may take in all.
    pub total: Duration,
}

impl Patience {
    /// For a job that reads many pages.
    pub const JOB: Self = Self {
        retries: 20,
        pause: Duration::from_secs(2),
        between: Duration::from_millis(200),
        total: Duration::from_mins(30),
    };

    /// For a question with a waiting caller.
    pub const QUESTION: Self = Self {
        retries: 4,
        pause: Duration::from_secs(1),
        between: Duration::ZERO,
        total: Duration::from_secs(10),
    };
}

/// The remaining patience.
#[derive(Debug)]
pub(super) struct RemainingPatience<'a> {
    patience: Patience,
    clock: &'a Clock,
    began: Duration,
    retries: u32,
}

impl<'a> RemainingPatience<'a> {
    pub(super) fn of(patience: Patience, clock: &'a Clock) -> Self {
        Self { patience, clock, began: clock.monotonic(), retries: patience.retries }
    }

    /// Waits before another try, or gives the failure back when there is none.
    pub(super) async fn spend(&mut self, error: Error) -> Result<(), Error> {
        let wish = match error.kind {
            // Credentials are renewed below; what is refused then stays refused.
            Kind::Unauthorized | Kind::NotHeld => return Err(error),
            Kind::Throttled { retry_after } => retry_after.unwrap_or_default(),
            Kind::Paused { retry_after } => retry_after,
            _ => Duration::ZERO,
        };
        let wait = wish.max(self.patience.pause);
        if !error.kind.is_retryable() || self.retries == 0 || wait >= self.time() {
            return Err(error);
        }
        self.retries -= 1;
        tracing::debug!(error = %error, left = self.retries, "a call is made again");
        self.clock.sleep(wait).await;
        Ok(())
    }

    /// Waits between two pages; not if that would take too long.
    pub(super) async fn between(&self) -> bool {
        let in_time = self.patience.between < self.time();
        if in_time && !self.patience.between.is_zero() {
            self.clock.sleep(self.patience.between).await;
        }
        in_time
    }

    /// The time that is left.
    pub(super) fn time(&self) -> Duration {
        let spent = self.clock.monotonic().saturating_sub(self.began);
        self.patience.total.saturating_sub(spent)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt;

    use super::*;
    use crate::error::Component;

    fn error(kind: Kind) -> Error {
        Error::new(Component("cis"), kind, "reading a page")
    }

    fn throttled(seconds: u64) -> Error {
        error(Kind::Throttled { retry_after: Some(Duration::from_secs(seconds)) })
    }

    #[tokio::test]
    async fn a_wish_to_be_left_alone_is_granted_within_the_time_there_is() {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        let mut left = RemainingPatience::of(
            Patience { total: Duration::from_mins(1), ..Patience::JOB },
            &clock,
        );

        {
            let mut waiting = pin!(left.spend(throttled(7)));
            assert!(waiting.as_mut().now_or_never().is_none());
            clock.advance(Duration::from_secs(6));
            assert!(waiting.as_mut().now_or_never().is_none());
            clock.advance(Duration::from_secs(1));
            waiting.await.unwrap();
        }

        assert!(left.spend(throttled(53)).now_or_never().unwrap().is_err());
    }

    #[tokio::test]
    async fn what_cannot_help_is_not_tried_and_tries_run_out() {
        let clock = Clock::running();
        let pause = Duration::from_millis(1);
        let mut left =
            RemainingPatience::of(Patience { retries: 2, pause, ..Patience::JOB }, &clock);

        for kind in
            [Kind::Unauthorized, Kind::NotFound, Kind::NotHeld, Kind::Refused { status: 400 }]
        {
            assert!(left.spend(error(kind)).await.is_err());
        }
        for kind in [Kind::Unavailable, Kind::Malformed] {
            left.spend(error(kind)).await.unwrap();
        }
        assert!(left.spend(error(Kind::Unavailable)).await.is_err());
    }
}
