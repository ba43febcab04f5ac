//! Which steps are slow, which fail: from sums, without their journals.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use serde::Serialize;

use crate::engine::{StepSum, bucket_time};

/// Fewer operations do not tell how long something usually takes.
const FEWEST: i64 = 3;

/// How a step went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// The kind of operation.
    pub kind: String,
    /// The step; absent for operations as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// In how many operations it ran.
    pub operations: i64,
    /// How often it ran.
    pub runs: i64,
    /// How many of its runs failed; of operations as a whole, how many failed.
    pub failures: i64,
    /// How many failed runs were tried again.
    pub retries: i64,
    /// How long it took in half of the operations that completed it, from its first run on; right within an eighth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
    /// The same in 95 of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95_seconds: Option<f64>,
}

/// Which steps come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepOrder {
    /// The slowest steps.
    #[default]
    Slowest,
    /// The steps that fail most often.
    Failing,
}

/// The sums of one step.
#[derive(Default)]
struct Sum {
    buckets: BTreeMap<i64, i64>,
    operations: i64,
    runs: i64,
    failures: i64,
    retries: i64,
}

impl Sum {
    fn completed(&self) -> i64 {
        self.buckets.range(0..).map(|(_, count)| count).sum()
    }

    /// The time within which this share of the operations completed it.
    fn within(&self, percent: i64) -> Option<Duration> {
        let rank = (self.completed() * percent + 99) / 100;
        let mut seen = 0;
        for (bucket, count) in self.buckets.range(0..) {
            seen += count;
            if seen >= rank {
                return bucket_time(*bucket).and_then(|time| Duration::try_from(time).ok());
            }
        }
        None
    }
}

fn by_step(sums: &[StepSum]) -> HashMap<(&str, &str), Sum> {
    let mut steps: HashMap<(&str, &str), Sum> = HashMap::new();
    for one in sums {
        let sum = steps.entry((one.kind.as_str(), one.step.as_str())).or_default();
        *sum.buckets.entry(one.bucket).or_default() += one.operations;
        sum.operations += one.operations;
        sum.runs += one.runs;
        sum.failures += one.failures;
        sum.retries += one.retries;
    }
    steps
}

/// The steps in their order; operations as a whole are among them.
pub(super) fn reports(
    sums: &[StepSum],
    kind: Option<&str>,
    order: StepOrder,
    limit: usize,
) -> Vec<StepReport> {
    let wanted = |(key, _): &(&(&str, &str), &Sum)| kind.is_none_or(|kind| key.0 == kind);
    let steps = by_step(sums);
    let report = |((kind, step), sum): (&(&str, &str), &Sum)| StepReport {
        kind: (*kind).to_owned(),
        step: Some(*step).filter(|step| !step.is_empty()).map(str::to_owned),
        operations: sum.operations,
        runs: sum.runs,
        failures: sum.failures,
        retries: sum.retries,
        median_seconds: sum.within(50).map(|time| time.as_secs_f64()),
        p95_seconds: sum.within(95).map(|time| time.as_secs_f64()),
    };
    let mut reports: Vec<StepReport> = steps.iter().filter(wanted).map(report).collect();
    reports.sort_by(|one, other| {
        let slow = |it: &StepReport| it.p95_seconds.unwrap_or_default();
        let slower = slow(other).total_cmp(&slow(one));
        let failing = other.failures.cmp(&one.failures);
        let first = match order {
            StepOrder::Slowest => slower.then(failing),
            StepOrder::Failing => failing.then(slower),
        };
        first.then_with(|| (&one.kind, &one.step).cmp(&(&other.kind, &other.step)))
    });
    reports.truncate(limit);
    reports
}

/// How long things usually take: what 95 of 100 stay within.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsualDurations(HashMap<String, HashMap<String, Duration>>);

impl UsualDurations {
    pub(super) fn of(sums: &[StepSum]) -> Self {
        let mut usuals: HashMap<String, HashMap<String, Duration>> = HashMap::new();
        for ((kind, step), sum) in by_step(sums) {
            if let Some(time) = sum.within(95).filter(|_| sum.completed() >= FEWEST) {
                usuals.entry(kind.to_owned()).or_default().insert(step.to_owned(), time);
            }
        }
        Self(usuals)
    }

    /// How long a step of operations of this kind usually takes.
    pub(super) fn of_step(&self, kind: &str, step: &str) -> Option<Duration> {
        self.0.get(kind)?.get(step).copied()
    }

    /// How long operations of this kind usually take as a whole.
    pub(super) fn of_kind(&self, kind: &str) -> Option<Duration> {
        self.of_step(kind, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::NOT_COMPLETED;

    fn sum(step: &str, bucket: i64, operations: i64, failures: i64) -> StepSum {
        let (kind, step) = ("provision".to_owned(), step.to_owned());
        StepSum { kind, step, bucket, operations, runs: operations, failures, retries: failures }
    }

    #[test]
    fn the_slowest_steps_come_first_or_those_that_fail_most() {
        let sums = [
            sum("Slow", 60, 20, 0),
            sum("Quick", 10, 94, 0),
            sum("Quick", 40, 6, 0),
            sum("Failing", NOT_COMPLETED, 2, 9),
        ];
        let names = |order| -> Vec<String> {
            let reports = reports(&sums, Some("provision"), order, 10);
            reports.into_iter().filter_map(|it| it.step).collect()
        };

        assert_eq!(names(StepOrder::Slowest), ["Slow", "Quick", "Failing"]);
        assert_eq!(names(StepOrder::Failing), ["Failing", "Slow", "Quick"]);
        let quick = reports(&sums, None, StepOrder::Slowest, 2).remove(1);
        let time = |bucket| bucket_time(bucket).map(|time| time.as_secs_f64());
        assert_eq!((quick.median_seconds, quick.p95_seconds), (time(10), time(40)));
        assert!(reports(&sums, Some("update"), StepOrder::Slowest, 2).is_empty());
    }

    #[test]
    fn what_was_seldom_completed_has_no_usual_time() {
        let usuals =
            UsualDurations::of(&[sum("Seldom", 9, 2, 0), sum("Often", 9, 3, 0), sum("", 20, 3, 0)]);

        assert_eq!(usuals.of_step("provision", "Seldom"), None);
        assert!(usuals.of_step("provision", "Often").is_some());
        assert!(usuals.of_kind("provision") > usuals.of_step("provision", "Often"));
        assert_eq!(usuals.of_kind("update"), None);
    }
}
