//! How long operations of a kind and their steps usually take, for pages that are open: read at most every half minute.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use broker::operations::view::{MOST_HOURS, StepOrder, StepReport};
use jiff::{SignedDuration, Timestamp};

use crate::Console;

/// How long usual times count.
const KEPT: Duration = Duration::from_secs(30);

/// The median of what ended in the last seven days, as a whole and by step.
#[derive(Debug, Default)]
pub(crate) struct Usual {
    pub(crate) whole: Option<SignedDuration>,
    steps: HashMap<String, SignedDuration>,
}

/// The usual times that were read last, by kind of operation.
#[derive(Default)]
pub(crate) struct Usuals(Mutex<HashMap<String, (Timestamp, Arc<Usual>)>>);

impl Usual {
    fn of(reports: Vec<StepReport>) -> Self {
        let mut usual = Self::default();
        for report in reports {
            let Some(median) = report.median_seconds.and_then(time) else { continue };
            if let Some(step) = report.step {
                usual.steps.insert(step, median);
            } else {
                usual.whole = Some(median);
            }
        }
        usual
    }

    /// How long a step usually takes.
    pub(crate) fn of_step(&self, step: &str) -> Option<SignedDuration> {
        self.steps.get(step).copied()
    }
}

/// Seconds of the store as a duration.
pub(crate) fn time(seconds: f64) -> Option<SignedDuration> {
    SignedDuration::try_from(Duration::try_from_secs_f64(seconds).ok()?).ok()
}

impl Usuals {
    fn kept(&self, kind: &str, now: Timestamp) -> Option<Arc<Usual>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, usual) = kept.get(kind)?;
        (*at + KEPT > now).then(|| usual.clone())
    }

    fn keep(&self, kind: &str, now: Timestamp, usual: &Arc<Usual>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(kind.to_owned(), (now, usual.clone()));
    }
}

/// The usual times of operations of this kind. A page without them is better than none.
pub(crate) async fn of(console: &Console, kind: &str) -> Arc<Usual> {
    let now = console.now();
    if let Some(usual) = console.usuals().kept(kind, now) {
        return usual;
    }
    let operations = &console.parts().operations;
    let read = operations.steps(MOST_HOURS, Some(kind), StepOrder::Slowest, usize::MAX).await;
    let Ok(reports) = read else { return Arc::default() };
    let usual = Arc::new(Usual::of(reports));
    console.usuals().keep(kind, now, &usual);
    usual
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(step: Option<&str>, median_seconds: Option<f64>) -> StepReport {
        StepReport {
            kind: "provision".into(),
            step: step.map(str::to_owned),
            operations: 1,
            runs: 1,
            failures: 0,
            retries: 0,
            median_seconds,
            p95_seconds: None,
        }
    }

    #[test]
    fn usual_times_are_medians_as_a_whole_and_by_step() {
        let usual = Usual::of(vec![
            report(None, Some(90.0)),
            report(Some("Check_Runtime"), Some(60.5)),
            report(Some("Never_Done"), None),
            report(Some("Odd"), Some(-1.0)),
        ]);

        assert_eq!(usual.whole, Some(SignedDuration::from_secs(90)));
        assert_eq!(usual.of_step("Check_Runtime"), Some(SignedDuration::from_millis(60_500)));
        assert_eq!((usual.of_step("Never_Done"), usual.of_step("Odd")), (None, None));
    }

    #[test]
    fn usual_times_are_read_again_after_half_a_minute() {
        let (usuals, now) = (Usuals::default(), Timestamp::UNIX_EPOCH);
        usuals.keep("provision", now, &Arc::default());

        assert!(usuals.kept("provision", now + Duration::from_secs(29)).is_some());
        assert!(usuals.kept("provision", now + Duration::from_secs(30)).is_none());
        assert!(usuals.kept("update", now).is_none());
    }
}
