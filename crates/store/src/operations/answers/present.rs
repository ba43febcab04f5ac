//! Current work and waits, in one pass over the unfinished operations.

use std::collections::HashMap;

use ::engine::{
    OperationId, Shape,
    explain::{Standstill, explain},
    storage::Snapshot,
};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    reason,
    steps::UsualDurations,
    stuck::{self, StuckOperation},
};

/// How many groups of waiting operations are listed.
const GROUPS: usize = 20;
/// How many stuck operations are listed.
const MOST_STUCK: usize = 200;

/// The current work, waits and failures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Present {
    /// When it was looked.
    pub at: Timestamp,
    /// Whether all unfinished operations were looked at; otherwise twenty thousand of them.
    pub complete: bool,
    /// How many operations stand how.
    pub standing: StandingCounts,
    /// Waits and failures by kind and step, the largest groups first.
    pub waits: Vec<WaitGroup>,
    /// How many are stuck.
    pub stuck_operations: usize,
    /// The stuck operations, those first that have stood longest; at most two hundred.
    pub stuck: Vec<StuckOperation>,
}

/// How many operations stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StandingCounts {
    /// A step of it runs.
    pub running: u64,
    /// It is due; no replica has picked it up yet.
    pub due: u64,
    /// Another operation of the instance is before it.
    pub queued: u64,
    /// A step waits for something.
    pub waiting: u64,
    /// A step failed and is tried again.
    pub failing: u64,
}

/// Operations that stand at one step in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitGroup {
    /// The kind of operation.
    pub kind: String,
    /// The step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How they stand there.
    pub standing: Standstill,
    /// How many.
    pub operations: u64,
    /// Since when the one does that has stood there longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Why that one does.
    pub reason: String,
}

/// An operation that has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedOperation {
    /// The operation.
    pub operation: OperationId,
    /// The instance.
    pub instance: String,
    /// Its kind.
    pub kind: String,
    /// When it failed.
    pub ended_at: Option<Timestamp>,
    /// Why.
    pub reason: String,
}

impl FailedOperation {
    pub(super) fn of(operation: &Snapshot) -> Self {
        Self {
            operation: operation.id,
            instance: operation.instance.clone(),
            kind: operation.kind.clone(),
            ended_at: operation.ended_at,
            reason: reason(operation),
        }
    }
}

/// Kind, step, and how it stands there.
type GroupKey = (String, Option<String>, &'static str);

/// One pass over the unfinished operations.
pub(super) struct Pass<'a> {
    now: Timestamp,
    paced: &'a [&'a str],
    usuals: &'a UsualDurations,
    standing: StandingCounts,
    groups: HashMap<GroupKey, WaitGroup>,
    stuck: Vec<StuckOperation>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(now: Timestamp, paced: &'a [&'a str], usuals: &'a UsualDurations) -> Self {
        let (standing, groups, stuck) = (StandingCounts::default(), HashMap::new(), Vec::new());
        Self { now, paced, usuals, standing, groups, stuck }
    }

    pub(super) fn add(&mut self, operation: &Snapshot, shape: Option<&Shape>) {
        let explained = explain(shape, operation, self.now);
        let word = match explained.kind {
            // Those that wait behind another one are counted apart.
            Standstill::Ended | Standstill::Queued => return,
            Standstill::Running => {
                self.standing.running += 1;
                None
            }
            Standstill::Due => {
                self.standing.due += 1;
                Some("due")
            }
            Standstill::Waiting => {
                self.standing.waiting += 1;
                Some("waiting")
            }
            Standstill::Failing => {
                self.standing.failing += 1;
                Some("failing")
            }
        };
        if let Some(word) = word {
            let key = (operation.kind.clone(), operation.step.clone(), word);
            let group = self.groups.entry(key).or_insert_with(|| WaitGroup {
                kind: operation.kind.clone(),
                step: operation.step.clone(),
                standing: explained.kind,
                operations: 0,
                since: explained.since,
                reason: explained.reason.clone(),
            });
            group.operations += 1;
            if explained.since < group.since {
                (group.since, group.reason) = (explained.since, explained.reason);
            }
        }
        let paced = self.paced.contains(&operation.kind.as_str());
        let usuals = (!paced).then_some(self.usuals);
        if let Some(found) = stuck::judge(operation, shape, usuals, self.now) {
            self.stuck.push(found);
        }
    }

    /// With what waits behind another operation.
    pub(super) fn end(mut self, queued: u64, complete: bool) -> Present {
        self.standing.queued = queued;
        self.stuck.sort_by_key(|it| (it.since, it.operation));
        let stuck_operations = self.stuck.len();
        self.stuck.truncate(MOST_STUCK);
        let mut waits: Vec<WaitGroup> = self.groups.into_values().collect();
        waits.sort_by(|one, other| {
            let count = other.operations.cmp(&one.operations);
            count.then_with(|| (&one.kind, &one.step).cmp(&(&other.kind, &other.step)))
        });
        waits.truncate(GROUPS);
        Present {
            at: self.now,
            complete,
            standing: self.standing,
            waits,
            stuck_operations,
            stuck: self.stuck,
        }
    }
}
