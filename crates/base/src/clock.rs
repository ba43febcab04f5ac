//! The only place that reads a clock.
//!
//! Engine time is the last time read from the database plus local monotonic time, so a replica whose own
//! clock is wrong does no harm. A held clock moves only when a test moves it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::{sync::oneshot, time::Instant};

/// A source of time that can be shared freely.
#[derive(Clone)]
pub struct Clock(Arc<Source>);

enum Source {
    Running { started: Instant, anchor: Mutex<Anchor> },
    Held(Mutex<HeldClock>),
}

struct Anchor {
    time: Timestamp,
    at: Instant,
    /// How wrong it may be.
    doubt: Duration,
}

struct HeldClock {
    started: Timestamp,
    now: Timestamp,
    tickets: u64,
    sleepers: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
}

impl Clock {
    /// The machine's clock, until [`Clock::synchronise`] corrects it.
    pub fn running() -> Self {
        Self::skewed(SignedDuration::ZERO)
    }

    /// The machine's clock, wrong by `skew`: for tests of what a wrong clock must not break.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    pub fn skewed(skew: SignedDuration) -> Self {
        Self::starting_at(Timestamp::now() + skew)
    }

    /// A running clock that says `time` now: the start of a simulation.
    pub fn starting_at(time: Timestamp) -> Self {
        let at = Instant::now();
        Self(Arc::new(Source::Running {
            started: at,
            anchor: Mutex::new(Anchor { time, at, doubt: Duration::MAX }),
        }))
    }

    /// A clock that stands still until it is moved.
    pub fn held_at(now: Timestamp) -> Self {
        Self(Arc::new(Source::Held(Mutex::new(HeldClock {
            started: now,
            now,
            tickets: 0,
            sleepers: BTreeMap::new(),
        }))))
    }

    /// The time, cut to microseconds because that is what databases keep.
    pub fn now(&self) -> Timestamp {
        let now = match &*self.0 {
            Source::Running { anchor, .. } => {
                let anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
                anchor.time + anchor.at.elapsed()
            }
            Source::Held(held) => held.lock().unwrap_or_else(PoisonError::into_inner).now,
        };
        whole_microseconds(now)
    }

    /// Time since this clock was made; never goes back and is not corrected.
    pub fn monotonic(&self) -> Duration {
        match &*self.0 {
            Source::Running { started, .. } => started.elapsed(),
            Source::Held(held) => {
                let held = held.lock().unwrap_or_else(PoisonError::into_inner);
                Duration::try_from(held.now.duration_since(held.started)).unwrap_or_default()
            }
        }
    }

    /// Takes over the database's time, which was `time` at some point after `sent` on [`Clock::monotonic`].
    /// An answer that travelled so long that it would make the clock worse is left aside. A held clock
    /// stays where the test put it.
    pub fn synchronise(&self, time: Timestamp, sent: Duration) {
        if let Source::Running { started, anchor } = &*self.0 {
            let answered = started.elapsed();
            let doubt = answered.saturating_sub(sent) / 2;
            let at = *started + answered;
            let mut anchor = anchor.lock().unwrap_or_else(PoisonError::into_inner);
            let drift = at.duration_since(anchor.at) / 1_000;
            if doubt <= anchor.doubt.saturating_add(drift) {
                *anchor = Anchor { time: time + doubt, at, doubt };
            }
        }
    }

    /// Whether a test moves this clock.
    pub fn is_held(&self) -> bool {
        matches!(&*self.0, Source::Held(_))
    }

    /// Waits until the clock has gone on by `duration`.
    #[expect(clippy::disallowed_methods, reason = "the one place that really waits")]
    pub async fn sleep(&self, duration: Duration) {
        match &*self.0 {
            Source::Running { .. } => tokio::time::sleep(duration).await,
            Source::Held(held) => {
                let woken = {
                    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
                    let until = held.now + duration;
                    if until <= held.now {
                        return;
                    }
                    let (wake, woken) = oneshot::channel();
                    let held = &mut *held;
                    held.tickets += 1;
                    let ticket = held.tickets;
                    held.sleepers.insert((until, ticket), wake);
                    woken
                };
                let _ = woken.await;
            }
        }
    }

    /// Waits until the clock says `time`.
    pub async fn sleep_until(&self, time: Timestamp) {
        let left = Duration::try_from(time.duration_since(self.now())).unwrap_or_default();
        self.sleep(left).await;
    }

    /// Moves a held clock forward and wakes who waited for it. A running clock is left alone.
    pub fn advance(&self, by: Duration) {
        if let Source::Held(held) = &*self.0 {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            let held = &mut *held;
            held.now += by;
            let later = held.sleepers.split_off(&(held.now + Duration::from_nanos(1), 0));
            for (_, wake) in std::mem::replace(&mut held.sleepers, later) {
                let _ = wake.send(());
            }
        }
    }

    /// Moves a held clock to `time` unless it is there already.
    pub fn advance_to(&self, time: Timestamp) {
        let by = time.duration_since(self.now());
        if let Ok(by) = Duration::try_from(by) {
            self.advance(by);
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

/// Cuts a time to whole microseconds.
pub fn whole_microseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    #[tokio::test]
    async fn a_held_clock_wakes_sleepers_in_time_and_no_earlier() {
        let clock = Clock::held_at(noon());
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(5)).await }
        });
        tokio::task::yield_now().await;

        clock.advance(Duration::from_secs(4));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());

        clock.advance(Duration::from_secs(1));
        sleeper.await.unwrap();
        assert_eq!(clock.now(), noon() + Duration::from_secs(5));
    }

    #[tokio::test]
    async fn a_wrong_machine_clock_is_corrected_by_the_databases() {
        let clock = Clock::skewed(SignedDuration::from_hours(1));

        clock.synchronise(noon(), clock.monotonic());

        assert!(clock.now().duration_since(noon()) < SignedDuration::from_secs(5));
    }
}
