//! An operation's journal laid over its plan: every step with when it ran, how often, and how it stands. No markup, so that it can be tested.

use std::collections::HashMap;

use broker::operations::view::{Entry, EntryEvent, Outcome, Shape, Snapshot, State, StepShape};
use jiff::{SignedDuration, Timestamp};

use crate::marks::{Tone, standing};

/// The stages of an operation, from its acceptance to its end or to now.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) stages: Vec<Stage>,
    /// How long it took, or has taken.
    pub(crate) length: SignedDuration,
}

/// Steps that are shown under one name.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) steps: Vec<StepLine>,
}

/// One step.
#[derive(Debug)]
pub(crate) struct StepLine {
    pub(crate) name: String,
    pub(crate) mark: Mark,
    pub(crate) bars: Vec<Bar>,
    pub(crate) tries: Vec<Try>,
    /// Why it was passed over or given up.
    pub(crate) note: Option<String>,
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Done,
    /// Its condition did not hold.
    PassedOver,
    /// Executed but not completed.
    GivenUp,
    Failed,
    /// The operation is at it.
    Current(Tone),
    ToCome,
    /// The operation ended before.
    NotReached,
}

/// A stretch of time, in thousandths of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) tone: Tone,
    pub(crate) length: SignedDuration,
}

/// One run, or several that ended alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Try {
    pub(crate) at: Timestamp,
    pub(crate) times: i64,
    pub(crate) failed: bool,
    pub(crate) text: String,
}

type Runs<'a> = HashMap<(&'a str, &'a str), Vec<(&'a Entry, Timestamp)>>;

impl Timeline {
    /// Lays a journal over the plan that the operation follows.
    pub(crate) fn of(
        shape: Option<&Shape>,
        operation: &Snapshot,
        journal: &[Entry],
        now: Timestamp,
    ) -> Self {
        let end = operation.ended_at.unwrap_or(now);
        let runs = runs(journal, end);
        let scale = Scale { from: operation.created_at, to: end };
        let mut stages: Vec<Stage> = Vec::new();
        let mut add = |stage: &str, line: StepLine| match stages.last_mut() {
            Some(last) if last.name == stage => last.steps.push(line),
            _ => stages.push(Stage { name: stage.to_owned(), steps: vec![line] }),
        };
        for (stage, step) in planned(shape) {
            let own = runs.get(&(stage, step.name.as_str())).map(Vec::as_slice).unwrap_or_default();
            let shown = step.label.as_deref().unwrap_or(stage);
            add(shown, StepLine::of(&step.name, stage, operation, own, &scale));
        }
        for (stage, step) in unplanned(shape, journal) {
            let own = runs.get(&(stage, step)).map(Vec::as_slice).unwrap_or_default();
            add(stage, StepLine::of(step, stage, operation, own, &scale));
        }
        Self { stages, length: end.duration_since(operation.created_at) }
    }

    /// How many steps are over, of how many.
    pub(crate) fn progress(&self) -> (usize, usize) {
        let over =
            |line: &&StepLine| matches!(line.mark, Mark::Done | Mark::PassedOver | Mark::GivenUp);
        (self.steps().filter(over).count(), self.steps().count())
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = &StepLine> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }

    /// Round times along the axis, in thousandths of the whole.
    pub(crate) fn ticks(&self) -> Vec<(i64, SignedDuration)> {
        const ROUND: [i64; 19] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800,
            43_200, 86_400, 172_800,
        ];
        let millis = i64::try_from(self.length.as_millis()).unwrap_or(i64::MAX).max(1);
        let step = ROUND.into_iter().find(|step| step * 1000 * 5 >= millis).unwrap_or(604_800);
        (1..)
            .map(|at| at * step * 1000)
            .take_while(|at| *at < millis)
            .take(12)
            .map(|at| (at * 1000 / millis, SignedDuration::from_millis(at)))
            .collect()
    }
}

/// From when to when.
struct Scale {
    from: Timestamp,
    to: Timestamp,
}

impl Scale {
    fn at(&self, time: Timestamp) -> i64 {
        let whole = self.to.duration_since(self.from).as_micros().max(1);
        let part = time.duration_since(self.from).as_micros().clamp(0, whole);
        i64::try_from(part * 1000 / whole).unwrap_or(1000)
    }
}

/// Every run with the time at which the operation went on: the pause after a wait or an error belongs to the step that causes it.
fn runs(journal: &[Entry], end: Timestamp) -> Runs<'_> {
    let mut runs = Runs::new();
    let entries: Vec<&Entry> = journal.iter().filter(|it| it.event == EntryEvent::Run).collect();
    for (at, entry) in entries.iter().enumerate() {
        let (Some(stage), Some(step)) = (&entry.stage, &entry.step) else { continue };
        let goes_on =
            matches!(entry.outcome, Some(Outcome::Wait | Outcome::Transient | Outcome::Again));
        let until = match entries.get(at + 1) {
            Some(next) if goes_on => next.began_at,
            None if goes_on => end,
            _ => entry.ended_at,
        };
        runs.entry((stage, step)).or_default().push((entry, until));
    }
    runs
}

fn planned(shape: Option<&Shape>) -> impl Iterator<Item = (&str, &StepShape)> {
    let stages = shape.map(|shape| shape.stages.as_slice()).unwrap_or_default();
    stages.iter().flat_map(|stage| stage.steps.iter().map(|step| (stage.name.as_str(), step)))
}

/// Steps of an older plan that are in the journal only.
fn unplanned<'a>(shape: Option<&Shape>, journal: &'a [Entry]) -> Vec<(&'a str, &'a str)> {
    let mut others = Vec::new();
    for entry in journal {
        let (Some(stage), Some(step)) = (entry.stage.as_deref(), entry.step.as_deref()) else {
            continue;
        };
        let known = shape.is_some_and(|shape| shape.find(stage, step).is_some());
        if !known && !others.contains(&(stage, step)) {
            others.push((stage, step));
        }
    }
    others
}

impl StepLine {
    fn of(
        name: &str,
        stage: &str,
        operation: &Snapshot,
        runs: &[(&Entry, Timestamp)],
        scale: &Scale,
    ) -> Self {
        let last = runs.last().map(|(entry, _)| *entry);
        let mark = mark(name, stage, operation, last.and_then(|entry| entry.outcome));
        let bar = |(entry, until): &(&Entry, Timestamp)| Bar {
            from: scale.at(entry.began_at),
            to: scale.at(*until),
            tone: tone(entry.outcome),
            length: until.duration_since(entry.began_at),
        };
        let worth_telling = |entry: &Entry| {
            entry.failure.is_some()
                || matches!(entry.outcome, Some(Outcome::Wait | Outcome::Again | Outcome::Ended))
        };
        let tries = runs.iter().filter(|(entry, _)| worth_telling(entry));
        let note = last.filter(|_| matches!(mark, Mark::PassedOver | Mark::GivenUp));
        Self {
            name: name.to_owned(),
            mark,
            bars: runs
                .iter()
                .filter(|(entry, _)| entry.outcome != Some(Outcome::Skipped))
                .map(bar)
                .collect(),
            tries: tries.map(|(entry, _)| attempt(entry)).collect(),
            note: note.and_then(|entry| entry.reason.clone()),
        }
    }

    /// How long it took with its pauses.
    pub(crate) fn took(&self) -> Option<SignedDuration> {
        (!self.bars.is_empty()).then(|| self.bars.iter().map(|bar| bar.length).sum())
    }
}

fn attempt(entry: &Entry) -> Try {
    let text = match (&entry.failure, &entry.reason) {
        (Some(failure), _) => failure.to_string(),
        (None, Some(reason)) => reason.clone(),
        (None, None) => entry.outcome.map(Outcome::as_str).unwrap_or_default().to_owned(),
    };
    let failed = entry.failure.is_some();
    Try { at: entry.began_at, times: entry.times, failed, text }
}

fn mark(name: &str, stage: &str, operation: &Snapshot, last: Option<Outcome>) -> Mark {
    let ended = operation.state.is_final();
    let is = |open: Option<&str>, own: &str| open == Some(own);
    if !ended && is(operation.stage.as_deref(), stage) && is(operation.step.as_deref(), name) {
        return Mark::Current(standing(operation).0);
    }
    if operation.incomplete.iter().any(|at| at.rsplit('/').next() == Some(name)) {
        return Mark::GivenUp;
    }
    match last {
        Some(Outcome::Done | Outcome::Finish) => Mark::Done,
        Some(Outcome::Skipped) => Mark::PassedOver,
        Some(Outcome::GivenUp) => Mark::GivenUp,
        Some(Outcome::Fatal | Outcome::Panic) => Mark::Failed,
        Some(Outcome::Transient | Outcome::Wait | Outcome::Again) if ended => Mark::Failed,
        // It was abandoned while the step failed or waited.
        Some(Outcome::Ended) if operation.state == State::Failed => Mark::Failed,
        _ if operation.closed.iter().any(|closed| closed == stage) => Mark::Done,
        _ if ended => Mark::NotReached,
        _ => Mark::ToCome,
    }
}

fn tone(outcome: Option<Outcome>) -> Tone {
    match outcome {
        Some(Outcome::Done | Outcome::Finish) => Tone::Good,
        Some(Outcome::Wait | Outcome::Again) => Tone::Slow,
        Some(Outcome::Transient | Outcome::Fatal | Outcome::Panic | Outcome::GivenUp) => Tone::Bad,
        Some(Outcome::Skipped | Outcome::Ended) | None => Tone::Calm,
    }
}

#[cfg(test)]
mod tests;
