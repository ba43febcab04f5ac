//! The numbers of the metrics: computed now and then, read by every scrape.

use jiff::Timestamp;
use store::operations::{Operations, OperationsError, Present, Success};

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

impl Gauges {
    /// The numbers about operations; none about a pool.
    pub async fn of_operations(
        operations: &Operations,
        present: &Present,
    ) -> Result<Self, OperationsError> {
        Ok(Self {
            at: Some(present.at),
            stuck: stuck(present),
            replicas: operations.replicas().await?.len(),
            ended_today: operations.success(1).await?,
            ..Self::default()
        })
    }
}

/// How many operations are stuck, by kind and step.
fn stuck(present: &Present) -> Vec<((String, String), u64)> {
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
