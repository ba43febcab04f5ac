//! P7, P9: no step is called before the commit of the one before it, nor after its stage is closed.
//!
//! Committed runs are numbered without gaps, and a call carries the number of its run: so the entry
//! of the run before says where the operation stood. What the database said while the caller waited
//! says when: it may have been asked a moment too late, never too early.

use std::sync::LazyLock;

use engine::{
    Shape,
    storage::{Entry, EntryEvent, Outcome},
};
use kcp_acceptance::torture::plans;

use super::{Case, Verdict};
use crate::{calls::Call, ledger::OperationReading};

static SHAPES: LazyLock<Vec<std::sync::Arc<Shape>>> = LazyLock::new(|| plans::shapes().into());

pub(super) fn check(case: &Case<'_>, verdict: &mut Verdict) {
    let Some(shape) = SHAPES.iter().find(|shape| shape.kind == case.row.kind) else {
        verdict.add(22, format!("nobody knows the kind of {:?}", case.row));
        return;
    };
    for call in &case.calls {
        let Some(stage) = stage_of(shape, &call.request.step) else {
            verdict.add(9, format!("no such step: {:?}", call.request));
            continue;
        };
        check_number(case, shape, stage, call, verdict);
        if let Some(seen) = call.seen.filter(|seen| seen.epoch <= call.request.epoch) {
            check_moment(shape, stage, call, seen, verdict);
        }
    }
}

fn stage_of<'a>(shape: &'a Shape, step: &str) -> Option<&'a str> {
    let stage = shape.stages.iter().find(|stage| stage.steps.iter().any(|s| s.name == step))?;
    Some(&stage.name)
}

fn first_step<'a>(shape: &'a Shape, stage: &str) -> Option<&'a str> {
    let stage = shape.stages.iter().find(|other| other.name == stage)?;
    stage.steps.first().map(|step| step.name.as_str())
}

/// The entry that the committed run of this number is part of.
fn entry_of(journal: &[Entry], run: i64) -> Option<&Entry> {
    journal.iter().find(|entry| {
        let last = entry.run.unwrap_or_default();
        entry.event == EntryEvent::Run
            && entry.outcome != Some(Outcome::Ended)
            && (last - entry.times + 1..=last).contains(&run)
    })
}

fn check_number(
    case: &Case<'_>,
    shape: &Shape,
    stage: &str,
    call: &Call<'_>,
    verdict: &mut Verdict,
) {
    let request = call.request;
    let before = entry_of(case.journal, request.run - 1);
    let (open, next) = match before {
        None if request.run == 1 => (Some(shape.stages[0].name.as_str()), None),
        None => {
            return verdict.add(9, format!("the run before was never committed: {request:?}"));
        }
        Some(entry) => {
            if entry.epoch > request.epoch {
                verdict.add(5, format!("{request:?} knows of a later epoch: {entry:?}"));
            }
            // Memory does not survive a change of owner, so there the stage starts over.
            let next = entry.then_step.as_deref().filter(|_| entry.epoch == request.epoch);
            (entry.then_stage.as_deref(), next)
        }
    };
    let Some(open) = open else {
        return verdict.add(20, format!("a call after the end: {request:?}"));
    };
    let closed =
        shape.stages.iter().take_while(|other| other.name != open).any(|other| other.name == stage);
    if closed {
        verdict.add(7, format!("{stage} was closed by {before:?}: {request:?}"));
    } else if stage != open
        || (Some(request.step.as_str()) != next
            && Some(request.step.as_str()) != first_step(shape, open))
    {
        verdict.add(9, format!("{request:?} does not follow {before:?}"));
    }
}

fn check_moment(
    shape: &Shape,
    stage: &str,
    call: &Call<'_>,
    seen: &OperationReading,
    verdict: &mut Verdict,
) {
    let request = call.request;
    if seen.epoch < request.epoch {
        verdict.add(5, format!("nobody was granted {request:?}, the database says {seen:?}"));
        return;
    }
    if seen.owner != Some(request.replica) {
        verdict.add(5, format!("{request:?} is not of the owner, the database says {seen:?}"));
    }
    if seen.state.is_final() {
        verdict.add(20, format!("{request:?} for a final operation: {seen:?}"));
        return;
    }
    if seen.closed.iter().any(|closed| closed == stage) {
        verdict.add(7, format!("{request:?} for a closed stage: {seen:?}"));
        return;
    }
    let called = shape.find(stage, &request.step);
    let stored = seen.stage.as_deref().zip(seen.step.as_deref());
    let stored = stored.and_then(|(stage, step)| shape.find(stage, step)).unwrap_or((0, 0));
    if called > Some(stored) {
        verdict.add(9, format!("{request:?} before its turn: {seen:?}"));
    }
}
