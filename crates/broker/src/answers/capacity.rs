//! How long the free accounts last, at the rate at which accounts were used up in the last seven days.
//!
//! What a reader would get wrong: the rate is what is left after accounts came back. A pool whose accounts are returned as fast as they
//! are claimed lasts, however many orders there are.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use serde::Serialize;
use store::broker::PoolSample;

use super::pool::{AccountCounts, PoolReading};

/// Over which time the rate is measured.
pub(super) const WINDOW: Duration = Duration::from_hours(7 * 24);
/// A pool that lasts less long is low.
const LOW_DAYS: f64 = 7.0;

/// How long the free accounts last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityList {
    /// When the pool was read.
    pub at: Timestamp,
    /// By provider; those that have only shared accounts are left out.
    pub capacity: Vec<Capacity>,
}

/// How long the free accounts of one sort last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capacity {
    /// The provider, as accounts are labelled.
    pub hyperscaler: String,
    /// Whether only people in the EU may touch them.
    pub eu_access: bool,
    /// How many can be claimed.
    pub free: i64,
    /// Whether there are enough.
    pub state: CapacityState,
    /// How many more are used each day; absent until there is an hour to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_per_day: Option<f64>,
    /// How many days the free ones last; absent when no more are used than come back, or that is not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days_left: Option<f64>,
    /// The same in a sentence.
    pub text: String,
}

/// Whether there are enough accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityState {
    /// None is free: orders of global accounts that have none wait, and then fail.
    Empty,
    /// They last less than a week.
    Low,
    /// They last longer, as far as that is known.
    Enough,
}

impl CapacityList {
    /// From the pool and its samples, oldest first.
    pub(super) fn of(reading: &PoolReading, samples: &[PoolSample]) -> Self {
        let hour = PoolSample::hour_of(reading.at);
        let claimable = reading.accounts.iter().filter(|it| it.free + it.used() > 0);
        let capacity = claimable.map(|counts| {
            let same = |sample: &&PoolSample| {
                sample.hyperscaler == counts.hyperscaler && sample.eu_access == counts.eu_access
            };
            let oldest = samples.iter().find(same).filter(|sample| sample.hour < hour);
            Capacity::of(counts, oldest.map(|sample| (sample.used, hour - sample.hour)))
        });
        Self { at: reading.at, capacity: capacity.collect() }
    }
}

impl Capacity {
    /// `before`: how many were used some hours ago.
    #[expect(clippy::cast_precision_loss, reason = "accounts are few")]
    fn of(counts: &AccountCounts, before: Option<(i64, i64)>) -> Self {
        let free = counts.free;
        let used_per_day =
            before.map(|(used, hours)| (counts.used() - used) as f64 * 24.0 / hours as f64);
        let shrinking = used_per_day.filter(|rate| *rate > 0.0);
        let days_left = shrinking.map(|rate| free as f64 / rate);
        let state = match days_left {
            _ if free == 0 => CapacityState::Empty,
            Some(days) if days < LOW_DAYS => CapacityState::Low,
            _ => CapacityState::Enough,
        };
        let name = Name(counts);
        let text = match (free, used_per_day, days_left) {
            (0, ..) => format!("{name}: no free accounts"),
            (_, None, _) => format!("{name}: {free} free, rate not known yet"),
            (_, Some(_), None) => format!("{name}: {free} free, not shrinking"),
            (_, _, Some(days)) if days < 1.0 => {
                format!("{name}: {free} free, less than a day at the present rate")
            }
            (_, _, Some(days)) => {
                format!("{name}: {free} free, about {days:.0} days at the present rate")
            }
        };
        let (hyperscaler, eu_access) = (counts.hyperscaler.clone(), counts.eu_access);
        Self { hyperscaler, eu_access, free, state, used_per_day, days_left, text }
    }
}

struct Name<'a>(&'a AccountCounts);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.hyperscaler)?;
        if self.0.eu_access { f.write_str(" (EU access)") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(free: i64, claimed: i64, before: Option<(i64, i64)>) -> (CapacityState, String) {
        let hyperscaler = "aws".to_owned();
        let counts =
            AccountCounts { hyperscaler, eu_access: false, free, claimed, dirty: 0, shared: 1 };
        let capacity = Capacity::of(&counts, before);
        (capacity.state, capacity.text)
    }

    #[test]
    fn free_accounts_last_as_long_as_the_rate_of_use_allows() {
        use CapacityState::{Empty, Enough, Low};
        let told = |state, text: &str| (state, text.to_owned());

        assert_eq!(
            text(12, 20, Some((16, 24))),
            told(Low, "aws: 12 free, about 3 days at the present rate")
        );
        assert_eq!(
            text(12, 20, Some((19, 48))),
            told(Enough, "aws: 12 free, about 24 days at the present rate")
        );
        assert_eq!(text(12, 20, Some((20, 24))), told(Enough, "aws: 12 free, not shrinking"));
        assert_eq!(text(12, 20, None), told(Enough, "aws: 12 free, rate not known yet"));
        assert_eq!(
            text(1, 20, Some((0, 24))),
            told(Low, "aws: 1 free, less than a day at the present rate")
        );
        assert_eq!(text(0, 20, None), told(Empty, "aws: no free accounts"));
    }

    #[test]
    fn the_rate_is_measured_from_the_oldest_sample_and_shared_accounts_are_left_out() {
        let at: Timestamp = "2026-01-08T12:00:00Z".parse().unwrap();
        let counts = |name: &str, free, claimed| AccountCounts {
            hyperscaler: name.into(),
            eu_access: false,
            free,
            claimed,
            dirty: 0,
            shared: 3,
        };
        let reading =
            PoolReading { at, accounts: vec![counts("aws", 10, 10), counts("azure", 0, 0)] };
        let hour = PoolSample::hour_of(at);
        let sample =
            |hour, used| PoolSample { hour, hyperscaler: "aws".into(), eu_access: false, used };

        let list = CapacityList::of(&reading, &[sample(hour - 48, 0), sample(hour - 1, 9)]);
        let new = CapacityList::of(&reading, &[sample(hour, 10)]);

        assert_eq!(list.capacity.len(), 1);
        assert_eq!(
            (list.capacity[0].used_per_day, list.capacity[0].days_left),
            (Some(5.0), Some(2.0))
        );
        assert_eq!(new.capacity[0].used_per_day, None);
    }
}
