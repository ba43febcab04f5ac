//! The numbers of the metrics: computed now and then, read by every scrape.

use jiff::Timestamp;
use store::operations::{Present, Success};

use super::{AccountCounts, Capacity};

/// The numbers of the metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gauges {
    /// When they were computed; absent before the first time.
    pub at: Option<Timestamp>,
    /// How many operations of a kind are stuck at a step.
    pub stuck: Vec<((String, String), u64)>,
    /// How many replicas live.
    pub replicas: usize,
    /// How operations ended today.
    pub ended_today: Vec<Success>,
    /// The pool; empty when the garden could not be read.
    pub accounts: Vec<AccountCounts>,
    /// How long its free accounts last.
    pub capacity: Vec<Capacity>,
}

/// How many operations are stuck, by kind and step.
pub(super) fn stuck(present: &Present) -> Vec<((String, String), u64)> {
    let mut counts: Vec<((String, String), u64)> = Vec::new();
    for one in &present.stuck {
        let key = (one.kind.clone(), one.step.clone().unwrap_or_default());
        match counts.iter_mut().find(|(other, _)| *other == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((key, 1)),
        }
    }
    counts
}
