//! Figures of each step from the journal of one operation.

use std::collections::BTreeMap;

use ::engine::storage::{Entry, Outcome};
use jiff::{SignedDuration, Timestamp};

/// The bucket of a step that was not completed.
pub const NOT_COMPLETED: i64 = -1;

/// How much longer the times of a bucket are than those of the one before it: what is read from buckets is right within an eighth.
const RATIO: f64 = 1.25;

/// How a step went in one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepRuns {
    pub(super) bucket: i64,
    pub(super) runs: i64,
    pub(super) failures: i64,
    pub(super) retries: i64,
}

/// The bucket of the time between two times.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "it is small")]
pub(super) fn bucket_of(from: Timestamp, to: Timestamp) -> i64 {
    let milliseconds = to.duration_since(from).as_millis().max(1) as f64;
    // A hair more than the quotient: the powers themselves belong to the bucket that they begin.
    (milliseconds.ln() / RATIO.ln() + 1e-9).floor() as i64
}

/// The time in the middle of a bucket; none of [`NOT_COMPLETED`].
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
pub fn bucket_time(bucket: i64) -> Option<SignedDuration> {
    let bucket = i32::try_from(bucket).ok().filter(|bucket| (0..200).contains(bucket))?;
    let milliseconds = RATIO.powf(f64::from(bucket) + 0.5);
    Some(SignedDuration::from_millis(milliseconds.round() as i64))
}

/// The steps that ran, by name: from the first run to the one that was done.
pub(super) fn steps(journal: &[Entry]) -> BTreeMap<&str, StepRuns> {
    let mut began: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut steps: BTreeMap<&str, StepRuns> = BTreeMap::new();
    for entry in journal {
        let (Some(step), Some(outcome)) = (entry.step.as_deref(), entry.outcome) else { continue };
        if matches!(outcome, Outcome::Skipped | Outcome::Ended) {
            continue;
        }
        let began = *began.entry(step).or_insert(entry.began_at);
        let none = StepRuns { bucket: NOT_COMPLETED, runs: 0, failures: 0, retries: 0 };
        let sum = steps.entry(step).or_insert(none);
        sum.runs += entry.times;
        match outcome {
            Outcome::Done | Outcome::Finish => sum.bucket = bucket_of(began, entry.ended_at),
            Outcome::Transient => {
                sum.failures += entry.times;
                sum.retries += entry.times;
            }
            Outcome::Fatal | Outcome::Panic | Outcome::GivenUp => sum.failures += entry.times,
            Outcome::Wait | Outcome::Again | Outcome::Skipped | Outcome::Ended => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_bucket_is_within_an_eighth_of_what_fell_into_it() {
        let begin = Timestamp::UNIX_EPOCH;
        for milliseconds in [1_i64, 2, 7, 100, 999, 61_000, 3_600_000, 86_400_000] {
            let took = SignedDuration::from_millis(milliseconds);
            let bucket = bucket_of(begin, begin + took);
            let read = bucket_time(bucket).unwrap().as_secs_f64().max(0.001);

            let ratio = read / took.as_secs_f64();
            assert!((0.85..1.15).contains(&ratio), "{milliseconds} ms is read as {read} s");
        }
        assert_eq!(bucket_time(NOT_COMPLETED), None);
        assert_eq!(bucket_of(begin, begin - SignedDuration::from_secs(5)), 0, "clocks differ");
    }
}
