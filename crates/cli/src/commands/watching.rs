//! What every `--watch` has in common: it goes on while the control plane is started again, and Ctrl-C ends the watching alone.

use std::{future::Future, process::ExitCode, time::Duration};

use base::Clock;
use jiff::{SignedDuration, Timestamp};

use crate::{hint, output};

/// How long answers may be missing once there was one: a restart takes less.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// Waits for answers that are missing for a while. One that never came is not waited for.
pub(super) struct Patience {
    clock: Clock,
    pause: Duration,
    answered: bool,
    missing_since: Option<Timestamp>,
}

impl Patience {
    /// Looks again after each pause.
    pub(super) fn new(clock: &Clock, pause: Duration) -> Self {
        Self { clock: clock.clone(), pause, answered: false, missing_since: None }
    }

    /// The answer; none when it is missing and may still come. `forget` is called before that is said, once.
    pub(super) fn take<T>(
        &mut self,
        answer: anyhow::Result<T>,
        forget: impl FnOnce(),
    ) -> anyhow::Result<Option<T>> {
        let error = match answer {
            Ok(answer) => {
                (self.answered, self.missing_since) = (true, None);
                return Ok(Some(answer));
            }
            Err(error) if self.answered => error,
            Err(error) => return Err(error),
        };
        let now = self.clock.now();
        let since = *self.missing_since.get_or_insert_with(|| {
            forget();
            let error = output::harmless(&format!("{error:#}"), "");
            eprintln!("no answer, still watching: {error}");
            now
        });
        if now.duration_since(since) > PATIENCE { Err(error) } else { Ok(None) }
    }

    /// The pause before the next look.
    pub(super) async fn pause(&self) {
        self.clock.sleep(self.pause).await;
    }
}

/// Watches on a terminal until the end, or until Ctrl-C: then it says that `what` goes on, and the command that watches it again.
pub(super) async fn unless_interrupted(
    watched: impl Future<Output = anyhow::Result<ExitCode>>,
    what: &str,
    again: &str,
) -> anyhow::Result<ExitCode> {
    tokio::select! {
        ended = watched => ended,
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            eprintln!("\nThe {what} goes on. Watch it again:\n  {} {again}", hint::kcp());
            Ok(ExitCode::from(130))
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn an_answer_that_came_once_is_waited_for_and_one_that_never_came_is_not() {
        let clock = Clock::running();
        let mut patience = Patience::new(&clock, Duration::from_millis(1));
        let missing = || Err::<u8, _>(anyhow!("connection refused"));
        assert!(patience.take(missing(), || panic!("nothing is drawn")).is_err());

        let mut told = 0;
        assert_eq!(patience.take(Ok(1), || told += 1).unwrap(), Some(1));
        assert_eq!(patience.take(missing(), || told += 1).unwrap(), None);
        assert_eq!(patience.take(missing(), || told += 1).unwrap(), None);

        assert_eq!(told, 1, "it is said once");
        patience.missing_since = Some(clock.now() - PATIENCE * 2);
        assert!(patience.take(missing(), || {}).is_err());
    }
}
