//! Whether more runtimes may start: canaries come first, and too many failures pause.

use domain::orchestration::Strategy;
use store::broker::Counts;

use super::validate::allowed_failures;

/// Which runtimes may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Everything up to this wave.
    Start {
        /// 0: canaries, 1: all others.
        wave: i64,
    },
    /// Nothing until the orchestration is resumed.
    Pause(String),
}

/// What was accepted when the orchestration was resumed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FailureAllowance {
    /// How many failed canaries do not pause it.
    pub(crate) canaries: u64,
    /// Others may start although all canaries were canceled.
    pub(crate) without_canaries: bool,
    /// How many failures do not count to the budget.
    pub(crate) failures: u64,
}

/// Which runtimes may start after these results.
pub(crate) fn pace(strategy: &Strategy, forgiven: FailureAllowance, counts: &Counts) -> Pace {
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
    let (failed, total) = (canaries.in_state("failed"), canaries.total());
    if strategy.canary == 0 || total == 0 {
        return Pace::Start { wave: 1 };
    }
    if failed > forgiven.canaries {
        return Pace::Pause(format!("{failed} of {total} canaries failed"));
    }
    if canaries.running() + canaries.waiting() > 0 {
        return Pace::Start { wave: 0 };
    }
    // Nothing was tried.
    if canaries.in_state("canceled") == total && !forgiven.without_canaries {
        return Pace::Pause(format!("{total} of {total} canaries were canceled"));
    }
    Pace::Start { wave: 1 }
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
        let none = FailureAllowance::default();
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
            (
                counts(&[(0, "canceled", false, 2), rest]),
                Pace::Pause("2 of 2 canaries were canceled".into()),
            ),
            (counts(&[rest]), Pace::Start { wave: 1 }),
        ];

        for (counts, expected) in table {
            assert_eq!(pace(&strategy, none, &counts), expected, "{counts:?}");
        }
    }

    #[test]
    fn failures_that_were_accepted_do_not_open_the_gate_for_the_canaries_behind_them() {
        let strategy = Strategy { canary: 3, ..Strategy::default() };
        let (failed, rest) = ((0, "failed", true, 1), (1, "pending", false, 8));
        let one = FailureAllowance { canaries: 1, failures: 1, ..FailureAllowance::default() };
        let table = [
            // The others are still waited for.
            (counts(&[failed, (0, "pending", false, 2), rest]), Pace::Start { wave: 0 }),
            (counts(&[failed, (0, "in progress", true, 2), rest]), Pace::Start { wave: 0 }),
            (
                counts(&[(0, "failed", true, 2), (0, "in progress", true, 1), rest]),
                Pace::Pause("2 of 3 canaries failed".into()),
            ),
            (counts(&[failed, (0, "succeeded", true, 2), rest]), Pace::Start { wave: 1 }),
        ];

        for (counts, expected) in table {
            assert_eq!(pace(&strategy, one, &counts), expected, "{counts:?}");
        }
        let all = FailureAllowance { canaries: 3, failures: 3, ..one };
        assert_eq!(
            pace(&strategy, all, &counts(&[(0, "failed", true, 3), rest])),
            Pace::Start { wave: 1 }
        );
    }

    #[test]
    fn others_follow_canceled_canaries_only_when_that_was_accepted() {
        let strategy = Strategy { canary: 1, ..Strategy::default() };
        let canceled = counts(&[(0, "canceled", false, 1), (1, "pending", false, 8)]);
        let accepted = FailureAllowance { without_canaries: true, ..FailureAllowance::default() };

        assert!(matches!(pace(&strategy, FailureAllowance::default(), &canceled), Pace::Pause(_)));
        assert_eq!(pace(&strategy, accepted, &canceled), Pace::Start { wave: 1 });
    }

    #[test]
    fn one_failure_more_than_the_budget_pauses() {
        let budget = Some(Budget::Text("10%".into()));
        let strategy = Strategy { failure_budget: budget, ..Strategy::default() };
        let after =
            |failed| counts(&[(1, "failed", true, failed), (1, "pending", false, 20 - failed)]);
        let none = FailureAllowance::default();

        assert_eq!(pace(&strategy, none, &after(2)), Pace::Start { wave: 1 });
        let paused = Pace::Pause("3 of 20 runtimes failed, the failure budget is 2".into());
        assert_eq!(pace(&strategy, none, &after(3)), paused);
        // Failures from before the resume do not pause again.
        let forgiven = FailureAllowance { failures: 3, ..none };
        assert_eq!(pace(&strategy, forgiven, &after(5)), Pace::Start { wave: 1 });
        assert!(matches!(pace(&strategy, forgiven, &after(6)), Pace::Pause(_)));
    }
}
