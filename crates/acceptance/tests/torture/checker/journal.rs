//! P5, P6, P20, P21: what the journal of one operation says about itself, and about its row.

use std::collections::BTreeMap;

use engine::{
    ReplicaId, State,
    storage::{EntryEvent, Outcome},
};

use super::{Case, Verdict};

pub(super) fn check(case: &Case<'_>, verdict: &mut Verdict) {
    check_owners(case, verdict);
    check_end(case, verdict);
    check_replay(case, verdict);
}

/// P5: epochs never go back and have one owner each. P6: nobody else wrote under them.
fn check_owners(case: &Case<'_>, verdict: &mut Verdict) {
    let id = case.row.id;
    let mut owners: BTreeMap<i64, ReplicaId> = BTreeMap::new();
    let mut epoch = 0;
    for entry in case.journal {
        if entry.epoch < epoch {
            verdict.add(5, format!("the epochs of {id} go back: {entry:?}"));
        }
        epoch = entry.epoch;
        let Some(replica) = entry.replica else { continue };
        let taken = entry.event == EntryEvent::Taken;
        if taken && owners.insert(epoch, replica).is_some() {
            verdict.add(5, format!("epoch {epoch} of {id} was granted twice: {entry:?}"));
        }
        if !taken && owners.get(&epoch) != Some(&replica) {
            verdict.add(6, format!("a write of {id} by another replica than its owner: {entry:?}"));
        }
    }
}

/// P20: nothing happens after the end.
fn check_end(case: &Case<'_>, verdict: &mut Verdict) {
    let end = case.journal.iter().position(|entry| entry.state.is_final());
    for entry in case.journal.iter().skip(end.map_or(usize::MAX, |end| end + 1)) {
        verdict.add(20, format!("something happened to {} after its end: {entry:?}", case.row.id));
    }
}

/// P21: the entries are complete, and replaying them yields the row.
fn check_replay(case: &Case<'_>, verdict: &mut Verdict) {
    let Case { row, journal, .. } = case;
    let mut epoch = 0;
    let mut owner = None;
    let mut runs = 0;
    let mut state = State::Pending;
    let mut position = (None, None);
    let mut closed: Vec<String> = Vec::new();
    for (at, entry) in journal.iter().enumerate() {
        if usize::try_from(entry.seq) != Ok(at + 1) {
            verdict.add(21, format!("the journal of {} has a gap before {entry:?}", row.id));
        }
        state = entry.state;
        match entry.event {
            EntryEvent::Taken => (epoch, owner) = (entry.epoch, entry.replica),
            EntryEvent::Run => {
                position = (entry.then_stage.clone(), entry.then_step.clone());
                let advanced = matches!(
                    entry.outcome,
                    Some(Outcome::Done | Outcome::Skipped | Outcome::GivenUp)
                );
                if let Some(stage) = entry.stage.clone()
                    && advanced
                    && entry.then_stage.as_ref() != Some(&stage)
                {
                    closed.push(stage);
                }
                if entry.outcome != Some(Outcome::Ended) {
                    let number = entry.run.unwrap_or_default();
                    if number - entry.times != runs {
                        verdict.add(21, format!("a run of {} is missing before {entry:?}", row.id));
                    }
                    runs = number;
                }
            }
            _ => {}
        }
    }
    if journal.first().is_none_or(|first| first.event != EntryEvent::Accepted) {
        verdict.add(21, format!("the journal of {} does not begin with its acceptance", row.id));
    }
    let yields = (epoch, owner, runs, state) == (row.epoch, row.owner, row.runs, row.state)
        && position == (row.stage.clone(), row.step.clone())
        && closed == row.closed;
    if !yields {
        verdict.add(21, format!("the journal does not yield the row {row:?}: {journal:#?}"));
    }
}
