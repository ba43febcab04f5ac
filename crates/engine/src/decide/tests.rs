//! What follows from each end of a run: beginnings and ends of stages, and what the tests share.

mod ending;
mod failing;
mod waiting;

use std::borrow::Cow;

use super::*;
use crate::{
    plan::{StageShape, StepShape},
    retry::Retry,
    step::Waiting,
};

pub(super) const MINUTE: Duration = Duration::from_secs(60);

pub(super) fn noon() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

pub(super) fn shape(steps_per_stage: &[usize], retry: Retry) -> Shape {
    let stages = steps_per_stage
        .iter()
        .enumerate()
        .map(|(stage, steps)| StageShape {
            name: format!("stage {stage}"),
            steps: (0..*steps)
                .map(|step| StepShape {
                    name: format!("step {stage}.{step}"),
                    retry,
                    weight: 1,
                    label: None,
                    conditions: Vec::new(),
                    needs: None,
                    leaves: None,
                    calls: Vec::new(),
                })
                .collect(),
        })
        .collect();
    Shape { kind: "test".into(), limit: 24 * 60 * MINUTE, stages, off: Vec::new() }
}

pub(super) fn reading(now: Timestamp) -> Reading {
    Reading {
        now,
        memory_since: Some(now),
        jitter: 0.5,
        pace: 1.0,
        patience: 10 * MINUTE,
        signalled: false,
        planted: PlantedBug::Nothing,
    }
}

pub(super) fn boom() -> RunEnd {
    RunEnd::Transient { failure: Failure::new("director", "http", "boom"), retry_after: None }
}

pub(super) fn waits() -> RunEnd {
    RunEnd::Returned(Ending::Wait(Waiting {
        reason: Cow::Borrowed("not yet"),
        at_latest: None,
        signal: None,
    }))
}

fn begin(shape: &Shape) -> (Position, (usize, usize)) {
    match start(shape, &Position::beginning(vec![]), false) {
        Start::Run(position, stage, step) => (*position, (stage, step)),
        Start::Complete => unreachable!("the shape has steps"),
    }
}

#[test]
fn the_commit_of_the_first_step_leaves_pending_and_starts_the_limit() {
    let shape = shape(&[2], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let waited = decide(&shape, at, &position, &waits(), &reading(noon()));
    let moved = decide(&shape, at, &position, &RunEnd::Returned(Ending::Done), &reading(noon()));

    assert_eq!(waited.position.state, State::Pending);
    assert_eq!(moved.position.state, State::InProgress);
    assert_eq!(moved.position.started_at, Some(noon()));
    assert_eq!(moved.position.step.as_deref(), Some("step 0.1"));
}

#[test]
fn an_operation_whose_first_step_fails_is_in_progress_and_its_limit_counts() {
    let shape = shape(&[2], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let failed = decide(&shape, at, &position, &boom(), &reading(noon()));

    assert_eq!(failed.position.state, State::InProgress);
    assert_eq!(failed.position.started_at, Some(noon()));
}

#[test]
fn again_starts_the_stage_over_and_finish_ends_the_operation_well() {
    let shape = shape(&[2, 1], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let position =
        decide(&shape, at, &position, &RunEnd::Returned(Ending::Done), &reading(noon())).position;
    let again = RunEnd::Returned(Ending::Again { after: MINUTE, reason: "not there".into() });
    let finish = RunEnd::Returned(Ending::Finish { reason: "nothing to do".into() });

    let over = decide(&shape, (0, 1), &position, &again, &reading(noon()));
    let ended = decide(&shape, (0, 1), &position, &finish, &reading(noon()));

    assert_eq!(over.position.step.as_deref(), Some("step 0.0"));
    assert!(!over.keep_memory);
    assert_eq!(ended.position.state, State::Succeeded);
    assert_eq!(ended.then, AfterCommit::End);
}
