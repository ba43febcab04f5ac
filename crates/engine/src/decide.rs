//! Pure: a result and a clock reading in, the next move out.
//!
//! Everything that happens to an operation is decided here and nowhere else, so that it can be
//! tested without a store, a task or a clock.

mod at;

use std::{collections::BTreeMap, time::Duration};

use base::Failure;
use jiff::Timestamp;

use crate::{
    plan::Shape,
    planted::PlantedBug,
    position::{Position, State},
    step::Ending,
    storage::{AfterCommit, Cancel, Outcome, Skip},
};

use at::At;

/// Nothing is polled more often than this, however fast the pace is.
const FASTEST_POLL: Duration = Duration::from_millis(10);

/// How a run ended, seen from outside of the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The step returned it.
    Returned(Ending),
    /// Its condition did not hold, for this reason.
    Skipped(String),
    /// It failed and may be tried again.
    Transient {
        /// What went wrong.
        failure: Failure,
        /// The `Retry-After` of the response.
        retry_after: Option<Duration>,
    },
    /// It failed for good.
    Fatal(Failure),
    /// It panicked with this message.
    Panicked(String),
}

/// Input of a decision, beside position and result.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The time.
    pub now: Timestamp,
    /// Since when the stage's memory lives; `None` when it is gone.
    pub memory_since: Option<Timestamp>,
    /// Between 0 and 1, random.
    pub jitter: f64,
    /// How many times faster than written to poll.
    pub pace: f64,
    /// After how long of failing in a row a stage starts over.
    pub patience: Duration,
    /// Whether the awaited signal was given while the step ran.
    pub signalled: bool,
    /// A bug, in tests.
    pub planted: PlantedBug,
}

/// The next move.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Where the operation stands now.
    pub position: Position,
    /// Whether it goes on, sleeps or ends.
    pub then: AfterCommit,
    /// How the run is recorded.
    pub outcome: Outcome,
    /// Why, for people.
    pub reason: Option<String>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// Whether the stage's memory is still of use.
    pub keep_memory: bool,
}

/// The first move for an operation that was just claimed, or whose stage was just closed.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Run this step: indices of stage and step.
    Run(Box<Position>, usize, usize),
    /// All stages are closed.
    Complete,
}

/// Finds the step to run: where it stood while its memory lives, otherwise the first step of the
/// first stage that is not closed.
pub fn start(shape: &Shape, position: &Position, memory_lives: bool) -> Start {
    let open = shape.stages.iter().position(|stage| !position.closed.contains(&stage.name));
    let Some(stage) = open else { return Start::Complete };
    let name = &shape.stages[stage].name;
    let step = match (&position.stage, &position.step) {
        (Some(at), Some(step)) if memory_lives && at == name => {
            shape.find(at, step).map_or(0, |(_, step)| step)
        }
        _ => 0,
    };
    let mut position = position.clone();
    if position.stage.as_ref() != Some(name) {
        position.clocks = BTreeMap::new();
    }
    position.stage = Some(name.clone());
    position.step = Some(shape.stages[stage].steps[step].name.clone());
    Start::Run(Box::new(position), stage, step)
}

/// At a step boundary, before anything runs: ends an operation that was stopped by an operator or whose time is up.
pub fn boundary(
    shape: &Shape,
    position: &Position,
    cancel: Option<&Cancel>,
    now: Timestamp,
) -> Option<Move> {
    if let Some(cancel) = cancel {
        let failure = (cancel.state == State::Failed)
            .then(|| Failure::new("engine", "superseded", cancel.reason.clone()));
        return Some(end(
            position,
            cancel.state,
            Outcome::Ended,
            cancel.reason.clone(),
            failure,
            now,
        ));
    }
    let limit_at = limit_of(shape, position)?;
    (now >= limit_at).then(|| {
        let text = format!("the operation has reached its time limit of {:?}", shape.limit);
        let failure = Failure::new("engine", "time_limit", text.clone());
        end(position, State::Failed, Outcome::Ended, text, Some(failure), now)
    })
}

/// The end of an operation whose stages are all closed.
pub fn complete(position: &Position, now: Timestamp) -> Move {
    end(position, State::Succeeded, Outcome::Done, "all stages are finished".into(), None, now)
}

/// An interval at a faster pace. What waits for long is not polled without pause: a fiftieth of the time that it has
/// waited lies between two polls, so that half an hour of waiting is some hundred polls at any pace.
fn paced(interval: Duration, pace: f64, waited: Duration) -> Duration {
    let least = (waited / 50).max(FASTEST_POLL);
    interval.div_f64(pace).max(least.min(interval))
}

/// Decides what follows a run of the step at `stage`, `step`.
pub fn decide(
    shape: &Shape,
    (stage, step): (usize, usize),
    position: &Position,
    run: &RunEnd,
    reading: &Reading,
) -> Move {
    let at = At { shape, stage, step, reading };
    match run {
        RunEnd::Returned(Ending::Done) => at.advance(position, Outcome::Done, None, None),
        RunEnd::Skipped(reason) => {
            at.advance(position, Outcome::Skipped, Some(reason.clone()), None)
        }
        RunEnd::Returned(Ending::Wait(waiting)) => {
            let mut position = position.clone();
            let since = at.waits(&mut position);
            let interval =
                waiting.at_latest.unwrap_or_else(|| at.shape_of().retry.while_waiting(since));
            let interval = paced(interval, reading.pace, since).mul_f64(1.0 - 0.2 * reading.jitter);
            let reason = waiting.reason.to_string();
            if let Some(limit) = at.limit_reached(&position) {
                return at.give_up(&position, Outcome::Wait, limit, None);
            }
            let mut until = at.no_later_than_limits(&position, reading.now + interval);
            if reading.signalled {
                until = reading.now;
            }
            at.sleep(position, Outcome::Wait, until, waiting.signal.clone(), reason, None)
        }
        RunEnd::Returned(Ending::Again { after, reason }) => {
            let mut position = position.clone();
            let since = at.waits(&mut position);
            if let Some(limit) = at.limit_reached(&position) {
                return at.give_up(&position, Outcome::Again, limit, None);
            }
            at.start_over(&mut position);
            let after = paced(*after, reading.pace, since);
            let until = at.no_later_than_limits(&position, reading.now + after);
            let moved = at.sleep(position, Outcome::Again, until, None, reason.to_string(), None);
            Move { keep_memory: false, ..moved }
        }
        RunEnd::Returned(Ending::Finish { reason }) => {
            end(position, State::Succeeded, Outcome::Finish, reason.to_string(), None, reading.now)
        }
        RunEnd::Transient { failure, retry_after } => at.failed(position, failure, *retry_after),
        RunEnd::Fatal(failure) => {
            let text = failure.message.clone();
            end(position, State::Failed, Outcome::Fatal, text, Some(failure.clone()), reading.now)
        }
        RunEnd::Panicked(message) => {
            let text = format!("step {} panicked: {message}", at.shape_of().name);
            let failure = Failure::new("engine", "panic", text.clone());
            end(position, State::Failed, Outcome::Panic, text, Some(failure), reading.now)
        }
    }
}

/// Decides what follows a request to skip the step at `stage`, `step`.
pub fn skip(
    shape: &Shape,
    (stage, step): (usize, usize),
    position: &Position,
    skip: &Skip,
    reading: &Reading,
) -> Move {
    let at = At { shape, stage, step, reading };
    let text = format!("step {} skipped: {}", at.shape_of().name, skip.reason);
    let failure = Failure::new("engine", "skipped", base::failure::shortened(text.clone()));
    at.leave_incomplete(position, text, failure)
}

fn end(
    position: &Position,
    state: State,
    outcome: Outcome,
    reason: String,
    failure: Option<Failure>,
    now: Timestamp,
) -> Move {
    let mut position = position.clone();
    position.state = state;
    position.stage = None;
    position.step = None;
    position.clocks = BTreeMap::new();
    position.ended_at = Some(now);
    position.note = Some(base::failure::shortened(reason.clone()));
    position.failure = match state {
        State::Succeeded => None,
        _ => failure.clone().or(position.failure),
    };
    Move {
        position,
        then: AfterCommit::End,
        outcome,
        reason: Some(reason),
        failure,
        keep_memory: false,
    }
}

/// An operation whose first step only waits has not begun; one whose first step was done, or failed, has.
fn leave_pending(position: &mut Position, now: Timestamp) {
    if position.state == State::Pending {
        position.state = State::InProgress;
        position.started_at = Some(now);
    }
}

fn limit_of(shape: &Shape, position: &Position) -> Option<Timestamp> {
    position.started_at.map(|started| started + shape.limit)
}

fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
