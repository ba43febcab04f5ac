//! Steps that fail: their clocks, their limits, and when they are tried again.

use super::{super::*, MINUTE, begin, boom, noon, reading, shape, waits};
use crate::retry::Retry;

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
