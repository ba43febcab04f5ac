//! Leaves a system alone that does not work: after some failures in a row only probes get through.
//!
//! What a reader would get wrong: a refusal (404, 422 …) is a success here. The system is alive.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::Clock;

/// This many failures in a row, with no success in between, stop the calls.
const FAILURES: u32 = 5;
/// The first pause; with one probe after it, a broken system sees one call a second at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Pauses double up to this one, so that work goes on soon after the system is back.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// A longer `Retry-After` binds the operation that got it, not all the others.
const LONGEST_WISH: Duration = Duration::from_secs(30);

/// Counts failures and decides who gets through.
#[derive(Debug)]
pub(crate) struct Breaker {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Closed { failures: u32 },
    Open { until: Duration, pause: Duration, probing: bool },
}

/// How a call went, as far as the breaker is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    Broken { leave_alone: Option<Duration> },
}

/// The right to make one call. Dropped without a result, it counts for nothing.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    breaker: &'a Breaker,
    probe: bool,
}

impl Breaker {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, state: Mutex::new(State::Closed { failures: 0 }) }
    }

    /// Lets a call through, or says how long to wait.
    pub(crate) fn enter(&self) -> Result<Ticket<'_>, Duration> {
        let now = self.clock.monotonic();
        match &mut *self.state() {
            State::Closed { .. } => Ok(Ticket { breaker: self, probe: false }),
            State::Open { until, probing, .. } if now >= *until && !*probing => {
                *probing = true;
                Ok(Ticket { breaker: self, probe: true })
            }
            State::Open { until, .. } => Err(until.saturating_sub(now).max(FIRST_PAUSE)),
        }
    }

    /// For how long the system is left alone, if it is.
    pub(crate) fn rests(&self) -> Option<Duration> {
        let now = self.clock.monotonic();
        match &*self.state() {
            State::Closed { .. } => None,
            State::Open { until, .. } => Some(until.saturating_sub(now).max(FIRST_PAUSE)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// Tells how the call went.
    pub(crate) fn finish(self, health: Health) {
        let now = self.breaker.clock.monotonic();
        let mut state = self.breaker.state();
        *state = match (*state, health) {
            // Calls that began before the pause say nothing about the system as it is now.
            (open @ State::Open { .. }, _) if !self.probe => open,
            (_, Health::Well) => State::Closed { failures: 0 },
            (State::Closed { failures }, Health::Broken { .. }) if failures + 1 < FAILURES => {
                State::Closed { failures: failures + 1 }
            }
            (before, Health::Broken { leave_alone }) => {
                let pause = match before {
                    State::Closed { .. } => FIRST_PAUSE,
                    State::Open { pause, .. } => (pause * 2).min(LONGEST_PAUSE),
                };
                let wish = leave_alone.unwrap_or_default().min(LONGEST_WISH);
                State::Open { until: now + pause.max(wish), pause, probing: false }
            }
        };
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.probe
            && let State::Open { probing, .. } = &mut *self.breaker.state()
        {
            *probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: Health = Health::Broken { leave_alone: None };

    fn breaker() -> (Clock, Breaker) {
        let clock = Clock::held_at("2026-01-01T12:00:00Z".parse().unwrap());
        (clock.clone(), Breaker::new(clock))
    }

    fn fail(breaker: &Breaker, times: u32) {
        for _ in 0..times {
            breaker.enter().unwrap().finish(BROKEN);
        }
    }

    #[test]
    fn a_success_between_failures_keeps_it_closed() {
        let (_, breaker) = breaker();

        fail(&breaker, FAILURES - 1);
        breaker.enter().unwrap().finish(Health::Well);
        fail(&breaker, FAILURES - 1);

        assert!(breaker.enter().is_ok());
    }

    #[test]
    fn a_broken_system_sees_at_most_two_calls_a_second_after_five_seconds() {
        let (clock, breaker) = breaker();
        let mut calls = [0_u32; 60];

        for second in &mut calls {
            for _ in 0..100 {
                if let Ok(ticket) = breaker.enter() {
                    *second += 1;
                    ticket.finish(BROKEN);
                }
                clock.advance(Duration::from_millis(10));
            }
        }

        assert!(calls[5..].iter().all(|calls| *calls <= 2), "{calls:?}");
        assert!(calls[5..].iter().sum::<u32>() >= 5, "{calls:?}");
    }

    #[test]
    fn one_probe_at_a_time_and_its_success_opens_the_way() {
        let (clock, breaker) = breaker();
        fail(&breaker, FAILURES);
        assert!(breaker.enter().is_err());

        clock.advance(FIRST_PAUSE);
        let probe = breaker.enter().unwrap();
        assert!(breaker.enter().is_err());
        probe.finish(Health::Well);

        assert!(breaker.enter().is_ok());
    }

    #[test]
    fn a_probe_that_was_called_off_makes_room_for_the_next() {
        let (clock, breaker) = breaker();
        fail(&breaker, FAILURES);
        clock.advance(FIRST_PAUSE);

        drop(breaker.enter().unwrap());

        assert!(breaker.enter().is_ok());
    }

    #[test]
    fn a_system_that_asks_for_more_time_gets_it() {
        let (clock, breaker) = breaker();
        fail(&breaker, FAILURES - 1);
        let leave_alone = Some(Duration::from_secs(20));
        breaker.enter().unwrap().finish(Health::Broken { leave_alone });

        clock.advance(Duration::from_secs(19));
        assert!(breaker.enter().is_err());

        clock.advance(Duration::from_secs(1));
        assert!(breaker.enter().is_ok());
    }

    #[test]
    fn a_system_that_asks_for_an_hour_is_probed_after_the_longest_wish() {
        let (clock, breaker) = breaker();
        fail(&breaker, FAILURES - 1);
        let leave_alone = Some(Duration::from_hours(1));
        breaker.enter().unwrap().finish(Health::Broken { leave_alone });

        let nearly = LONGEST_WISH.saturating_sub(Duration::from_millis(1));
        clock.advance(nearly);
        assert!(breaker.enter().is_err());

        clock.advance(Duration::from_millis(1));
        assert!(breaker.enter().is_ok());
    }
}
