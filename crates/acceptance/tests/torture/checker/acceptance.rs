//! P1, P3, P8, P11, P13, P20: what was answered is stored once, ends as its plan says, and stays so.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    OperationId, State,
    storage::{Acceptance, Snapshot},
};
use uuid::Uuid;

use super::{History, Verdict};
use crate::{calls::calls, client::SentRequest};

/// P3: however often a request is sent, one operation comes of it.
pub(super) fn check_repetitions(history: &History, verdict: &mut Verdict) {
    for sent in &history.sent {
        let stored = |answer: &&Acceptance| {
            matches!(answer, Acceptance::Started | Acceptance::Queued | Acceptance::Refused(_))
        };
        if sent.answers.iter().filter(stored).count() > 1 {
            verdict.add(3, format!("a request was answered as new twice: {sent:?}"));
        }
        if sent.operations().collect::<BTreeSet<_>>().len() > 1 {
            verdict.add(3, format!("a request was answered with two operations: {sent:?}"));
        }
    }
    let requests: BTreeMap<OperationId, Uuid> =
        history.sent.iter().map(|sent| (sent.id, sent.request)).collect();
    let mut by_request: BTreeMap<Uuid, Vec<&Snapshot>> = BTreeMap::new();
    for row in &history.rows {
        if let Some(request) = requests.get(&row.id) {
            by_request.entry(*request).or_default().push(row);
        }
    }
    for rows in by_request.values_mut() {
        rows.sort_by_key(|row| row.created_at);
        for pair in rows.windows(2) {
            // After the first has ended, the same words are a new request.
            if pair[0].ended_at.is_none_or(|ended| pair[1].created_at < ended) {
                verdict.add(3, format!("one request became two operations: {pair:?}"));
            }
        }
    }
}

/// P1: answered = stored = final; and every operation ended as its plan says.
pub(super) fn check_end(history: &History, verdict: &mut Verdict) {
    let answered: BTreeSet<_> = history.sent.iter().flat_map(SentRequest::operations).collect();
    let stored: BTreeSet<_> = history.rows.iter().map(|row| row.id).collect();
    for id in answered.difference(&stored) {
        verdict.add(1, format!("{id} was accepted and is gone"));
    }
    for id in stored.difference(&answered) {
        verdict.add(1, format!("{id} is stored and was never answered"));
    }
    let events = calls(&history.events).unwrap_or_default();
    let made: BTreeSet<&str> =
        events.iter().filter(|call| call.applied).map(|call| call.request.thing.as_str()).collect();
    for row in &history.rows {
        if row.state.is_final() {
            check_result(row, &made, verdict);
        } else {
            verdict.add(1, format!("it never ended: {row:?}"));
        }
    }
    for then in history.finals.values() {
        let now = history.rows.iter().find(|row| row.id == then.id);
        let same = now.is_some_and(|now| {
            (now.state, now.ended_at, &now.note, &now.failure, now.runs)
                == (then.state, then.ended_at, &then.note, &then.failure, then.runs)
        });
        if !same {
            verdict.add(20, format!("a final operation changed: {then:?} became {now:?}"));
        }
    }
}

fn check_result(row: &Snapshot, made: &BTreeSet<&str>, verdict: &mut Verdict) {
    let (expected, things): (State, &[&str]) = match row.kind.as_str() {
        "build" => {
            (State::Succeeded, &["Begin", "Collect", "Make", "Save", "Await", "Flaky", "Last"])
        }
        "remove" => (State::Succeeded, &["Stuck", "Clean"]),
        "watch" => (State::Succeeded, &[]),
        _ => (State::Failed, &["Panics"]),
    };
    if row.state != expected {
        let promise = if expected == State::Failed { 13 } else { 1 };
        verdict.add(promise, format!("it should have {expected}: {row:?}"));
    }
    for thing in things {
        if !made.contains(format!("{}/{thing}", row.root).as_str()) {
            verdict.add(8, format!("{thing} was never made for {row:?}"));
        }
    }
    if row.kind == "remove" && row.incomplete != ["give_up/Stuck"] {
        verdict.add(11, format!("the skipped step is not recorded: {row:?}"));
    }
}
