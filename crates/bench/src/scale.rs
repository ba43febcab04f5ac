//! How big and how long everything is: as the definitions say, or just enough to prove the harness.

use std::time::Duration;

use super::Options;

/// How big and how long everything is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) rounds: usize,
    pub(super) repeats: usize,
    /// One measurement.
    pub(super) window: Duration,
    pub(super) warm_up: Duration,
    /// Stored, and final, before anything is measured.
    pub(super) rows: usize,
    /// The scale of `pgbench -i`.
    pub(super) accounts: usize,
    pub(super) shared_buffers: &'static str,
    /// Operations that wait at once, and for how long.
    pub(super) waiting: usize,
    pub(super) wait: Duration,
    /// Operations that wait in the comparison with the reference model, and for how long.
    pub(super) few_waiting: usize,
    pub(super) short_wait: Duration,
    /// In flight when the replica is killed.
    pub(super) killed: usize,
    /// Timers per second.
    pub(super) timers: usize,
    /// The first guess of operations per second; measurements replace it.
    pub(super) guess: f64,
}

impl Scale {
    pub(super) fn of(options: &Options) -> Self {
        let window = Duration::from_secs_f64(options.seconds);
        if options.short {
            return Self {
                rounds: options.rounds,
                repeats: 0,
                window,
                warm_up: Duration::from_millis(500),
                rows: options.rows.min(2_000),
                accounts: 1,
                shared_buffers: "256MB",
                waiting: 1_000,
                wait: Duration::from_secs(5),
                few_waiting: 100,
                short_wait: Duration::from_millis(200),
                killed: 500,
                timers: 200,
                guess: 300.0,
            };
        }
        Self {
            rounds: options.rounds,
            repeats: options.repeats,
            window,
            warm_up: Duration::from_secs(3),
            rows: options.rows,
            accounts: 20,
            shared_buffers: "1GB",
            waiting: 100_000,
            wait: Duration::from_secs(60),
            few_waiting: 1_000,
            short_wait: Duration::from_secs(2),
            killed: 10_000,
            timers: 1_000,
            guess: 2_000.0,
        }
    }

    /// How many operations last through a warm-up and a measurement.
    pub(super) fn backlog(&self, per_second: f64) -> usize {
        let seconds = (self.warm_up + self.window).as_secs_f64() + 1.0;
        let needed = per_second * seconds * 1.3;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let needed = needed as usize;
        needed + 2_000
    }
}
