//! A step in its plan at a moment: its clocks, its limits, and where the plan goes from there.

use std::time::Duration;

use base::Failure;
use jiff::Timestamp;

use super::{Move, Reading, Start, complete, elapsed, end, leave_pending, limit_of, start};
use crate::{
    plan::{Shape, StepShape},
    planted::PlantedBug,
    position::{Position, State},
    retry::AtLimit,
    storage::{AfterCommit, Outcome},
};

/// A step in its plan at a moment.
pub(super) struct At<'a> {
    pub(super) shape: &'a Shape,
    pub(super) stage: usize,
    pub(super) step: usize,
    pub(super) reading: &'a Reading,
}

/// Which limit was reached.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Failing(Duration),
    Waiting(Duration),
}

impl At<'_> {
    pub(super) fn shape_of(&self) -> &StepShape {
        &self.shape.stages[self.stage].steps[self.step]
    }

    fn stage_name(&self) -> &str {
        &self.shape.stages[self.stage].name
    }

    /// Sets the waiting clock, clears the failing one; returns for how long it has been waiting.
    pub(super) fn waits(&self, position: &mut Position) -> Duration {
        let clock = position.clocks.entry(self.shape_of().name.clone()).or_default();
        clock.failing_since = None;
        let since = *clock.waiting_since.get_or_insert(self.reading.now);
        position.failure = None;
        elapsed(since, self.reading.now)
    }

    pub(super) fn failed(
        &self,
        position: &Position,
        failure: &Failure,
        retry_after: Option<Duration>,
    ) -> Move {
        let Reading { now, jitter, patience, memory_since, planted, .. } = *self.reading;
        let mut position = position.clone();
        let clock = position.clocks.entry(self.shape_of().name.clone()).or_default();
        let since = *clock.failing_since.get_or_insert(now);
        position.failure = Some(failure.clone());
        leave_pending(&mut position, now);
        if let Some(limit) = self.limit_reached(&position) {
            return self.give_up(&position, Outcome::Transient, limit, Some(failure));
        }
        let mut until = match retry_after {
            // What the other side asked for is kept to, even beyond the step's own limit.
            Some(after) => now + after.mul_f64(1.0 + 0.1 * jitter),
            None => {
                let interval = self.shape_of().retry.after_error(elapsed(since, now));
                self.no_later_than_limits(&position, now + interval.mul_f64(0.8 + 0.4 * jitter))
            }
        };
        if let Some(limit) = limit_of(self.shape, &position) {
            until = until.min(limit);
        }
        if planted.is(PlantedBug::NoBackOff) {
            until = now;
        }
        // Its credentials may be stale: after a while, fetch everything anew.
        let in_a_row = memory_since.map(|memory| elapsed(since.max(memory), now));
        let stale = in_a_row.is_none_or(|time| time >= patience);
        if stale {
            self.start_over(&mut position);
        }
        let reason = failure.message.clone();
        let moved =
            self.sleep(position, Outcome::Transient, until, None, reason, Some(failure.clone()));
        Move { keep_memory: !stale, ..moved }
    }

    pub(super) fn limit_reached(&self, position: &Position) -> Option<Limit> {
        let step = self.shape_of();
        let clock = position.clock(&step.name);
        let reached = |since: Option<Timestamp>, limit: Duration| {
            since.is_some_and(|since| elapsed(since, self.reading.now) >= limit)
        };
        if let Some(limit) = step.retry.waiting_for.filter(|l| reached(clock.waiting_since, *l)) {
            return Some(Limit::Waiting(limit));
        }
        reached(clock.failing_since, step.retry.failing_for)
            .then_some(Limit::Failing(step.retry.failing_for))
    }

    /// A step whose limit comes before its next try is tried once more at the limit.
    pub(super) fn no_later_than_limits(&self, position: &Position, until: Timestamp) -> Timestamp {
        let step = self.shape_of();
        let clock = position.clock(&step.name);
        let limits = [
            clock.failing_since.map(|since| since + step.retry.failing_for),
            clock.waiting_since.zip(step.retry.waiting_for).map(|(since, limit)| since + limit),
            limit_of(self.shape, position),
        ];
        limits.into_iter().flatten().fold(until, Timestamp::min).max(self.reading.now)
    }

    pub(super) fn give_up(
        &self,
        position: &Position,
        last: Outcome,
        limit: Limit,
        failure: Option<&Failure>,
    ) -> Move {
        let step = self.shape_of();
        let text = match (limit, failure) {
            (Limit::Failing(time), Some(failure)) => {
                format!("step {} failed for {time:?}: {}", step.name, failure.message)
            }
            (Limit::Waiting(time), Some(failure)) => {
                let name = step.name.as_str();
                format!("step {name} reached its time limit of {time:?}: {}", failure.message)
            }
            (Limit::Failing(time) | Limit::Waiting(time), None) => {
                format!("step {} reached its time limit: it waited for {time:?}", step.name)
            }
        };
        let failure = Failure {
            message: base::failure::shortened(text.clone()),
            ..failure
                .cloned()
                .unwrap_or_else(|| Failure::new("engine", "waiting_limit", String::new()))
        };
        match step.retry.at_limit {
            AtLimit::Fail => {
                end(position, State::Failed, last, text, Some(failure), self.reading.now)
            }
            AtLimit::Skip => self.leave_incomplete(position, text, failure),
        }
    }

    /// Executed but not completed: the plan goes on.
    pub(super) fn leave_incomplete(
        &self,
        position: &Position,
        text: String,
        failure: Failure,
    ) -> Move {
        let mut position = position.clone();
        let place = format!("{}/{}", self.stage_name(), self.shape_of().name);
        if !position.incomplete.contains(&place) {
            position.incomplete.push(place);
        }
        self.advance(&position, Outcome::GivenUp, Some(text), Some(failure))
    }

    pub(super) fn advance(
        &self,
        position: &Position,
        outcome: Outcome,
        reason: Option<String>,
        failure: Option<Failure>,
    ) -> Move {
        let now = self.reading.now;
        let mut position = position.clone();
        position.clocks.remove(&self.shape_of().name);
        position.failure.clone_from(&failure);
        position.note.clone_from(&reason);
        leave_pending(&mut position, now);
        let stage = &self.shape.stages[self.stage];
        if let Some(next) = stage.steps.get(self.step + 1) {
            position.step = Some(next.name.clone());
            if self.reading.planted.is(PlantedBug::StageClosedEarly)
                && self.step + 2 == stage.steps.len()
            {
                position.closed.push(stage.name.clone());
            }
            return Move {
                position,
                then: AfterCommit::Hold,
                outcome,
                reason,
                failure,
                keep_memory: true,
            };
        }
        if !position.closed.contains(&stage.name) {
            position.closed.push(stage.name.clone());
        }
        match start(self.shape, &position, false) {
            Start::Run(position, ..) => Move {
                position: *position,
                then: AfterCommit::Hold,
                outcome,
                reason,
                failure,
                keep_memory: false,
            },
            Start::Complete => {
                let ended = complete(&position, now);
                Move { outcome, reason, failure, ..ended }
            }
        }
    }

    pub(super) fn start_over(&self, position: &mut Position) {
        let first = &self.shape.stages[self.stage].steps[0];
        position.step = Some(first.name.clone());
    }

    pub(super) fn sleep(
        &self,
        mut position: Position,
        outcome: Outcome,
        until: Timestamp,
        awaits: Option<String>,
        reason: String,
        failure: Option<Failure>,
    ) -> Move {
        position.note = Some(base::failure::shortened(reason.clone()));
        let until = base::clock::whole_microseconds(until);
        let keep_memory = self.reading.memory_since.is_some();
        if !keep_memory {
            self.start_over(&mut position);
        }
        let then = AfterCommit::Sleep { until, awaits };
        Move { position, then, outcome, reason: Some(reason), failure, keep_memory }
    }
}
