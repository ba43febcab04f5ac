//! What follows from each end of a run, one by one.

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
fn waiting_clears_the_failing_clock_and_failing_does_not_clear_the_waiting_one() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let position = decide(&shape, at, &position, &waits(), &reading(noon())).position;
    let position = decide(&shape, at, &position, &boom(), &reading(noon() + MINUTE)).position;
    let clock = position.clock("step 0.0");
    assert_eq!(clock.waiting_since, Some(noon()));
    assert_eq!(clock.failing_since, Some(noon() + MINUTE));

    let position = decide(&shape, at, &position, &waits(), &reading(noon() + 2 * MINUTE)).position;
    let clock = position.clock("step 0.0");
    assert_eq!(clock.waiting_since, Some(noon()));
    assert_eq!(clock.failing_since, None);
}

#[test]
fn a_step_that_is_done_has_all_its_time_again_when_its_stage_starts_over() {
    let shape = shape(&[2], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let position = decide(&shape, at, &position, &waits(), &reading(noon())).position;
    let position = decide(&shape, at, &position, &boom(), &reading(noon())).position;
    assert!(position.clock("step 0.0").waiting_since.is_some());

    let done = RunEnd::Returned(Ending::Done);
    let position = decide(&shape, at, &position, &done, &reading(noon() + MINUTE)).position;

    assert_eq!(position.clock("step 0.0").waiting_since, None);
    assert_eq!(position.clock("step 0.0").failing_since, None);
}

#[test]
fn a_step_that_fails_up_to_its_limit_fails_the_operation_with_the_last_error() {
    let shape = shape(&[1], Retry::DEFAULT.failing_for(5 * MINUTE));
    let (position, at) = begin(&shape);

    let position = decide(&shape, at, &position, &boom(), &reading(noon())).position;
    let just_before = noon() + 5 * MINUTE - Duration::from_secs(1);
    let early = decide(&shape, at, &position, &boom(), &reading(just_before));
    let late = decide(&shape, at, &position, &boom(), &reading(noon() + 5 * MINUTE));

    assert!(
        matches!(early.then, AfterCommit::Sleep { until, .. } if until == noon() + 5 * MINUTE),
        "the last try is at the limit"
    );
    assert_eq!(late.position.state, State::Failed);
    assert_eq!(late.position.failure.unwrap().component, "director");
}

#[test]
fn a_skippable_step_is_recorded_as_incomplete_and_the_plan_goes_on() {
    let shape = shape(&[1, 1], Retry::DEFAULT.waiting_for(MINUTE).then_skip());
    let (position, at) = begin(&shape);

    let position = decide(&shape, at, &position, &waits(), &reading(noon())).position;
    let moved = decide(&shape, at, &position, &waits(), &reading(noon() + MINUTE));

    assert_eq!(moved.outcome, Outcome::GivenUp);
    assert_eq!(moved.position.incomplete, ["stage 0/step 0.0"]);
    assert_eq!(moved.position.closed, ["stage 0"]);
    assert_eq!(moved.position.step.as_deref(), Some("step 1.0"));
}

#[test]
fn a_step_that_an_operator_skips_is_recorded_as_incomplete_and_the_plan_goes_on() {
    let shape = shape(&[2, 1], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let position = decide(&shape, at, &position, &boom(), &reading(noon())).position;
    let request = Skip {
        stage: "stage 0".into(),
        step: "step 0.0".into(),
        reason: "called off by an operator".into(),
    };

    let moved = skip(&shape, at, &position, &request, &reading(noon() + MINUTE));

    assert_eq!((moved.outcome, moved.then), (Outcome::GivenUp, AfterCommit::Hold));
    assert_eq!(moved.position.incomplete, ["stage 0/step 0.0"]);
    assert_eq!(moved.position.step.as_deref(), Some("step 0.1"));
    assert!(moved.position.clocks.is_empty(), "the step's clock is gone");
    let text = "step step 0.0 skipped: called off by an operator";
    assert_eq!(moved.reason.as_deref(), Some(text));
    let again = skip(&shape, at, &moved.position, &request, &reading(noon() + MINUTE));
    assert_eq!(again.position.incomplete, ["stage 0/step 0.0"], "it is recorded once");
}

#[test]
fn ten_minutes_of_failing_start_the_stage_over_without_giving_the_step_its_time_back() {
    let shape = shape(&[2], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let position =
        decide(&shape, at, &position, &RunEnd::Returned(Ending::Done), &reading(noon())).position;
    let reads =
        |minutes| Reading { memory_since: Some(noon()), ..reading(noon() + minutes * MINUTE) };

    let position = decide(&shape, (0, 1), &position, &boom(), &reads(0)).position;
    let nine = decide(&shape, (0, 1), &position, &boom(), &reads(9));
    let ten = decide(&shape, (0, 1), &position, &boom(), &reads(10));

    assert_eq!(nine.position.step.as_deref(), Some("step 0.1"));
    assert!(nine.keep_memory);
    assert_eq!(ten.position.step.as_deref(), Some("step 0.0"));
    assert!(!ten.keep_memory);
    assert_eq!(ten.position.clock("step 0.1").failing_since, Some(noon()));
}

#[test]
fn retry_after_is_kept_to() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let busy = RunEnd::Transient {
        failure: Failure::new("avs", "throttled", "429"),
        retry_after: Some(7 * MINUTE),
    };

    let moved = decide(&shape, at, &position, &busy, &reading(noon()));

    assert!(matches!(moved.then, AfterCommit::Sleep { until, .. } if until >= noon() + 7 * MINUTE));
}

#[test]
fn a_signal_given_while_the_step_ran_wakes_it_at_once() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, at) = begin(&shape);

    let signalled = Reading { signalled: true, ..reading(noon()) };
    let moved = decide(&shape, at, &position, &waits(), &signalled);

    assert!(matches!(moved.then, AfterCommit::Sleep { until, .. } if until == noon()));
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

#[test]
fn the_operations_limit_ends_it_at_the_boundary_and_says_so() {
    let shape = shape(&[2], Retry::DEFAULT);
    let (position, at) = begin(&shape);
    let position =
        decide(&shape, at, &position, &RunEnd::Returned(Ending::Done), &reading(noon())).position;

    assert_eq!(boundary(&shape, &position, None, noon() + shape.limit - MINUTE), None);
    let ended = boundary(&shape, &position, None, noon() + shape.limit).unwrap();

    assert_eq!(ended.position.state, State::Failed);
    assert!(ended.position.note.unwrap().contains("time limit"));
}

#[test]
fn a_superseded_operation_ends_failed_and_a_canceled_one_canceled() {
    let shape = shape(&[1], Retry::DEFAULT);
    let (position, _) = begin(&shape);

    for state in [State::Failed, State::Canceled] {
        let cancel = Cancel { state, reason: "a delete came".into() };
        let ended = boundary(&shape, &position, Some(&cancel), noon()).unwrap();
        assert_eq!(ended.position.state, state);
    }
}

#[test]
fn what_waits_for_long_is_not_polled_without_pause_at_the_fastest_pace() {
    let shape = shape(&[1], Retry::every(Duration::from_secs(10)));
    let (mut position, at) = begin(&shape);
    let (mut now, mut polls) = (noon(), 0_u32);

    while now < noon() + 30 * MINUTE {
        let moved =
            decide(&shape, at, &position, &waits(), &Reading { pace: 1_000.0, ..reading(now) });
        position = moved.position;
        let AfterCommit::Sleep { until, .. } = moved.then else { panic!("{:?}", moved.then) };
        assert!(until.duration_since(now) <= jiff::SignedDuration::from_secs(10));
        assert!(polls > 0 || until.duration_since(now) < jiff::SignedDuration::from_millis(20));
        (now, polls) = (until, polls + 1);
    }

    assert!((200..1_000).contains(&polls), "{polls}");
}
