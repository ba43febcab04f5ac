//! Whether more runtimes may start: canaries come first, and too many failures pause.

use domain::orchestration::Strategy;
use store::broker::Counts;

use super::validate::allowed_failures;

/// What may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Everything up to this wave.
    Start {
        /// 0: canaries, 1: all others.
        wave: i64,
    },
    /// Nothing until somebody says so.
    Pause(String),
}

/// What somebody said who resumed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Forgiven {
    /// Canaries may fail.
    pub(crate) canaries: bool,
    /// So many failures do not count.
    pub(crate) failures: u64,
}

/// What may start after these results.
pub(crate) fn pace(strategy: &Strategy, forgiven: Forgiven, counts: &Counts) -> Pace {
    let (failed, total) = (counts.in_state("failed"), counts.total());
    let budget = strategy.failure_budget.as_ref();
    let allowed = budget.and_then(|budget| allowed_failures(budget, total).ok());
    if let Some(allowed) = allowed
        && failed.saturating_sub(forgiven.failures) > allowed
    {
        return Pace::Pause(format!(
            "{failed} of {total} runtimes failed, the failure budget is {allowed}"
        ));
    }
    let canaries = counts.of_wave(0);
    if strategy.canary == 0 || forgiven.canaries || canaries.total() == 0 {
        return Pace::Start { wave: 1 };
    }
    match canaries.in_state("failed") {
        0 if canaries.running() + canaries.waiting() > 0 => Pace::Start { wave: 0 },
        0 => Pace::Start { wave: 1 },
        failed => Pace::Pause(format!("{failed} of {} canaries failed", canaries.total())),
    }
}

#[cfg(test)]
mod tests {
    use domain::orchestration::Budget;
    use store::broker::Count;

    use super::*;

    fn counts(all: &[(i64, &str, bool, i64)]) -> Counts {
        let count = |&(wave, state, accepted, number): &(i64, &str, bool, i64)| Count {
            wave,
            state: state.into(),
            accepted,
            number,
        };
        Counts(all.iter().map(count).collect())
    }

    #[test]
    fn canaries_go_first_and_alone() {
        let strategy = Strategy { canary: 2, ..Strategy::default() };
        let none = Forgiven::default();
        let rest = (1, "pending", false, 8);
        let table = [
            (counts(&[(0, "pending", false, 2), rest]), Pace::Start { wave: 0 }),
            (
                counts(&[(0, "in progress", true, 1), (0, "succeeded", true, 1), rest]),
                Pace::Start { wave: 0 },
            ),
            (counts(&[(0, "succeeded", true, 2), rest]), Pace::Start { wave: 1 }),
            (
                counts(&[(0, "succeeded", true, 1), (0, "canceled", false, 1), rest]),
                Pace::Start { wave: 1 },
            ),
            (
                counts(&[(0, "succeeded", true, 1), (0, "failed", true, 1), rest]),
                Pace::Pause("1 of 2 canaries failed".into()),
            ),
            (counts(&[rest]), Pace::Start { wave: 1 }),
        ];

        for (counts, expected) in table {
            assert_eq!(pace(&strategy, none, &counts), expected, "{counts:?}");
        }
        let failed = counts(&[(0, "failed", true, 2), rest]);
        let forgiven = Forgiven { canaries: true, failures: 2 };
        assert_eq!(pace(&strategy, forgiven, &failed), Pace::Start { wave: 1 });
    }

    #[test]
    fn one_failure_more_than_the_budget_pauses() {
        let budget = Some(Budget::Text("10%".into()));
        let strategy = Strategy { failure_budget: budget, ..Strategy::default() };
        let after =
            |failed| counts(&[(1, "failed", true, failed), (1, "pending", false, 20 - failed)]);
        let none = Forgiven::default();

        assert_eq!(pace(&strategy, none, &after(2)), Pace::Start { wave: 1 });
        let paused = Pace::Pause("3 of 20 runtimes failed, the failure budget is 2".into());
        assert_eq!(pace(&strategy, none, &after(3)), paused);
        // What was there when somebody resumed does not pause again.
        let forgiven = Forgiven { failures: 3, ..none };
        assert_eq!(pace(&strategy, forgiven, &after(5)), Pace::Start { wave: 1 });
        assert!(matches!(pace(&strategy, forgiven, &after(6)), Pace::Pause(_)));
    }
}
