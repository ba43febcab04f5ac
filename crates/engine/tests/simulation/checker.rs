//! Reads what is left and says which promise was broken.

use std::collections::BTreeMap;

use engine::{
    OperationId, State,
    storage::{Entry, EntryEvent, Outcome, Snapshot},
    testing::SimulatedStore,
};
use jiff::SignedDuration;
use uuid::Uuid;

use crate::{
    outside::World,
    plans::{BACK_OFF, STUCK_FOR},
};

/// The operation that a newer program wrote.
pub(crate) const NEWER: OperationId = Uuid::from_u128(u128::MAX);
/// Replicas agree on the time up to the time a heartbeat travels.
const TOLERANCE: SignedDuration = SignedDuration::from_millis(100);

/// A broken promise, by the number it has in the list of guarantees.
#[derive(Debug, Clone)]
pub(crate) struct Violation {
    pub promise: u8,
    #[expect(dead_code, reason = "printed with the failing seed")]
    pub text: String,
}

pub(crate) fn check(
    store: &SimulatedStore,
    world: &World,
    accepted: &BTreeMap<OperationId, &'static str>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    let rows = store.all();
    for id in accepted.keys() {
        if !rows.iter().any(|row| row.id == *id) {
            found.push(violation(1, format!("{id} was accepted and is gone")));
        }
    }
    for (thing, times) in &world.made {
        if *times != 1 {
            found.push(violation(8, format!("{thing} was made {times} times")));
        }
    }
    for row in &rows {
        let journal = store.history(row.id);
        if row.id == NEWER {
            if row.runs > 0 || row.epoch > 0 {
                found.push(violation(22, "a newer version was claimed".into()));
            }
            continue;
        }
        check_history(row, &journal, &mut found);
        check_times(row, &journal, &mut found);
        check_result(row, world, &mut found);
    }
    found
}

fn violation(promise: u8, text: String) -> Violation {
    Violation { promise, text }
}

/// Epochs grow, one owner each, nothing after the end, and the replay yields what is stored.
fn check_history(row: &Snapshot, journal: &[Entry], found: &mut Vec<Violation>) {
    let mut owners = BTreeMap::new();
    let mut closed: Vec<&str> = Vec::new();
    let mut ended: Option<State> = None;
    let mut epoch = 0;
    let mut taken = 0;
    for entry in journal {
        if entry.epoch < epoch {
            found.push(violation(5, format!("epochs go back in {journal:#?}")));
        }
        epoch = entry.epoch;
        if entry.event == EntryEvent::Taken {
            taken = entry.epoch;
        }
        let refused = entry.failure.as_ref().is_some_and(|it| it.reason == "change_refused");
        if refused {
            found.push(violation(17, format!("no change was refused: {journal:#?}")));
        }
        if entry.times > 1 && entry.outcome != Some(Outcome::Wait) {
            found.push(violation(21, format!("only waits are counted together: {journal:#?}")));
        }
        if let Some(replica) = entry.replica
            && *owners.entry(entry.epoch).or_insert(replica) != replica
        {
            found.push(violation(5, format!("epoch {epoch} has two owners in {journal:#?}")));
        }
        if let Some(state) = ended
            && (entry.state != state || entry.event == EntryEvent::Run)
        {
            found.push(violation(20, format!("something happened after the end: {journal:#?}")));
        }
        if entry.state.is_final() && ended.is_none() {
            ended = Some(entry.state);
        }
        if let (EntryEvent::Run, Some(stage)) = (entry.event, entry.stage.as_deref()) {
            if closed.contains(&stage) && entry.outcome != Some(Outcome::Ended) {
                found.push(violation(7, format!("{stage} ran again in {journal:#?}")));
            }
            if entry.then_stage.as_deref() != Some(stage) && !entry.state.is_final() {
                closed.push(stage);
            }
        }
    }
    let last = journal.last();
    // An operation that was abandoned has no owner any more, under an epoch of its own.
    let last_epoch = if is_abandoned(row) { taken + 1 } else { taken };
    if last_epoch != row.epoch || last.is_none_or(|last| last.state != row.state) {
        found.push(violation(
            21,
            format!("the history does not yield the row {row:?}: {journal:#?}"),
        ));
    }
    if last.is_some_and(|last| last.then_step != row.step || last.then_stage != row.stage) {
        found.push(violation(21, format!("the history does not yield the position {row:?}")));
    }
}

/// Whether an operator has ended it, whatever its step did.
pub(crate) fn is_abandoned(row: &Snapshot) -> bool {
    row.failure.as_ref().is_some_and(|failure| failure.reason == "abandoned")
}

/// Limits fire when they should, and errors are followed by a pause.
fn check_times(row: &Snapshot, journal: &[Entry], found: &mut Vec<Violation>) {
    let stuck: Vec<_> =
        journal.iter().filter(|entry| entry.step.as_deref() == Some("Stuck")).collect();
    let first = stuck.iter().find(|entry| entry.outcome == Some(Outcome::Wait));
    let given_up = stuck.iter().find(|entry| entry.outcome == Some(Outcome::GivenUp));
    if let (Some(first), Some(given_up), None) = (first, given_up, &row.skip) {
        // `began_at` of a collapsed entry is that of its first run; its wait began a moment later.
        let took = given_up.ended_at.duration_since(first.began_at);
        let least = SignedDuration::try_from(STUCK_FOR).unwrap_or_default();
        if took < least - TOLERANCE || took > least + SignedDuration::from_secs(6) {
            found.push(violation(11, format!("a limit of {least} fired after {took}: {row:?}")));
        }
    }
    for pair in journal.windows(2) {
        let [failed, next] = pair else { continue };
        // A step with a limit is tried once more at the limit, however short the pause.
        let retried = failed.outcome == Some(Outcome::Transient)
            && failed.step.as_deref() != Some("Stuck")
            && next.event == EntryEvent::Run
            && next.outcome != Some(Outcome::Ended)
            // A step that an operator skips was not tried again.
            && next.failure.as_ref().is_none_or(|failure| failure.reason != "skipped");
        let pause = next.began_at.duration_since(failed.ended_at);
        let least = SignedDuration::try_from(BACK_OFF.mul_f64(0.79)).unwrap_or_default();
        if retried && pause < least {
            found.push(violation(15, format!("tried again after {pause}: {pair:#?}")));
        }
    }
}

/// Operations that were left alone end as their plan says, with every effect in place.
fn check_result(row: &Snapshot, world: &World, found: &mut Vec<Violation>) {
    if row.cancel.is_some() || !row.state.is_final() || is_abandoned(row) {
        return;
    }
    if row.skip.is_some() {
        if row.state != State::Succeeded {
            found.push(violation(1, format!("it should have gone on: {row:?}")));
        }
        return;
    }
    let (expected, things): (State, &[&str]) = match row.kind.as_str() {
        "build" => {
            (State::Succeeded, &["Begin", "Collect", "Make", "Save", "Await", "Flaky", "Last"])
        }
        "remove" => (State::Succeeded, &["Stuck", "Clean"]),
        "slow" => (State::Succeeded, &["Slowly"]),
        _ => (State::Failed, &["Panics"]),
    };
    if row.state != expected {
        let promise = if row.kind == "panic" { 13 } else { 1 };
        found.push(violation(promise, format!("it should have {expected}: {row:?}")));
    }
    for thing in things {
        if !world.made.contains_key(&format!("{}/{thing}", row.root)) {
            found.push(violation(8, format!("{thing} was never made for {row:?}")));
        }
    }
    if row.kind == "remove" && row.incomplete != ["give_up/Stuck"] {
        found.push(violation(11, format!("the skipped step is not recorded: {row:?}")));
    }
}
