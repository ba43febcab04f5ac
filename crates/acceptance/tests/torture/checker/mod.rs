//! Says which promises a history breaks. Pure: everything that was seen goes in, violations come out.

mod acceptance;
mod calls;
#[cfg(test)]
mod invented;
mod journal;
mod order;
#[cfg(test)]
mod tests;
mod times;

use std::collections::BTreeMap;

use engine::{
    OperationId,
    storage::{Entry, Snapshot},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    calls::{Call, calls as folded},
    client::SentRequest,
    ledger::Event,
};

/// Clocks of processes on one machine agree up to the time a heartbeat travels, and a thread may be
/// kept waiting between asking for the time and using it.
const TOLERANCE: SignedDuration = SignedDuration::from_millis(200);

/// Everything that was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// The requests of the clients, with their responses.
    pub sent: Vec<SentRequest>,
    /// The events that the outside world recorded.
    pub events: Vec<Event>,
    /// The operations as they are stored.
    pub rows: Vec<Snapshot>,
    /// Their journals.
    pub journals: BTreeMap<OperationId, Vec<Entry>>,
    /// Operations as they were when they were first seen to be final.
    pub finals: BTreeMap<OperationId, Snapshot>,
    /// When which process was paused.
    pub pauses: Vec<Pause>,
    /// From when to when the database was away.
    pub outages: Vec<(Timestamp, Timestamp)>,
}

/// A process that stood still.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    pub process: String,
    pub until: Timestamp,
}

/// A broken promise, by the number it has in the list of guarantees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Violation {
    pub promise: u8,
    pub text: String,
}

/// The result of a check.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub violations: Vec<Violation>,
    /// Calls that arrived after one of a newer epoch.
    pub stale_calls: u64,
    /// By how much a limit fired late at most.
    pub latest_limit: SignedDuration,
    /// How many calls were in flight at each pause, by its place in the history.
    in_flight: BTreeMap<usize, u64>,
}

impl Verdict {
    fn add(&mut self, promise: u8, text: impl Into<String>) {
        self.violations.push(Violation { promise, text: text.into() });
    }
}

/// One operation with all that is known of it.
struct Case<'a> {
    row: &'a Snapshot,
    journal: &'a [Entry],
    calls: Vec<&'a Call<'a>>,
}

/// Checks what must hold at every moment, also in the middle of things.
pub(crate) fn check_safety(history: &History) -> Verdict {
    let mut verdict = Verdict::default();
    let calls = match folded(&history.events) {
        Ok(calls) => calls,
        Err(gap) => {
            verdict.add(0, gap);
            return verdict;
        }
    };
    acceptance::check_repetitions(history, &mut verdict);
    calls::check_effects(&calls, &mut verdict);
    calls::check_instances(history, &calls, &mut verdict);
    for case in cases(history, &calls, &mut verdict) {
        journal::check(&case, &mut verdict);
        calls::check_owners(&case, &history.pauses, &mut verdict);
        order::check(&case, &mut verdict);
        times::check(&case, &history.outages, &mut verdict);
    }
    calls::check_in_flight(history, &mut verdict);
    verdict
}

/// Checks everything, of a history that has come to its end.
pub(crate) fn check(history: &History) -> Verdict {
    let mut verdict = check_safety(history);
    acceptance::check_end(history, &mut verdict);
    verdict
}

fn cases<'a>(history: &'a History, calls: &'a [Call<'a>], verdict: &mut Verdict) -> Vec<Case<'a>> {
    let mut by_operation: BTreeMap<OperationId, Vec<&Call<'_>>> = BTreeMap::new();
    for call in calls {
        by_operation.entry(call.request.operation).or_default().push(call);
    }
    let cases = history.rows.iter().map(|row| Case {
        row,
        journal: history.journals.get(&row.id).map(Vec::as_slice).unwrap_or_default(),
        calls: by_operation.remove(&row.id).unwrap_or_default(),
    });
    let cases = cases.collect();
    for id in by_operation.keys() {
        verdict.add(1, format!("a replica works on {id}, which is not stored"));
    }
    cases
}
