//! Ends of an operation: steps that are skipped, limits, and requests to end.

use super::{super::*, MINUTE, begin, boom, noon, reading, shape, waits};
use crate::retry::Retry;

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
