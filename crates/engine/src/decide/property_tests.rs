//! Whatever steps do and whenever the process dies: an operation ends, and no stage that is closed runs again.

use proptest::prelude::*;

use super::{
    tests::{MINUTE, boom, noon, reading, shape, waits},
    *,
};
use crate::retry::Retry;

/// The result of a simulated step, and whether the process dies after it.
#[derive(Debug, Clone)]
struct Event {
    run: RunEnd,
    crash: bool,
    /// An operator has asked that the step does not run.
    skip: bool,
    jitter: f64,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let run = prop_oneof![
        5 => Just(RunEnd::Returned(Ending::Done)),
        3 => Just(waits()),
        3 => Just(boom()),
        1 => Just(RunEnd::Skipped("not needed".into())),
        1 => Just(RunEnd::Returned(Ending::Again { after: MINUTE, reason: "again".into() })),
    ];
    let event = (run, proptest::bool::weighted(0.2), proptest::bool::weighted(0.1), 0.0..1.0)
        .prop_map(|(run, crash, skip, jitter)| Event { run, crash, skip, jitter });
    proptest::collection::vec(event, 1..60)
}

/// Runs a plan with these events, cyclically, and checks every move. Returns the final position.
fn live(shape: &Shape, events: &[Event], planted: PlantedBug) -> Result<Position, String> {
    let mut now = noon();
    let mut position = Position::beginning(vec![]);
    let mut memory: Option<(String, Timestamp)> = None;
    for event in events.iter().cycle().take(200_000) {
        if let Some(ended) = boundary(shape, &position, None, now) {
            return Ok(ended.position);
        }
        let lives =
            memory.as_ref().is_some_and(|(stage, _)| Some(stage) == position.stage.as_ref());
        let Start::Run(at, stage, step) = start(shape, &position, lives) else {
            return Err("complete, but not final".into());
        };
        let name = &shape.stages[stage].name;
        if position.closed.contains(name) {
            return Err(format!("{name} is closed and runs again"));
        }
        if position.closed.iter().any(|closed| !shape.stages.iter().any(|s| s.name == *closed)) {
            return Err("a stage that does not exist is closed".into());
        }
        if !lives {
            if step != 0 {
                return Err("a stage without memory starts in the middle".into());
            }
            memory = Some((name.clone(), now));
        }
        let since = memory.as_ref().map(|(_, since)| *since);
        let reading =
            Reading { memory_since: since, jitter: event.jitter, planted, ..reading(now) };
        let moved = if event.skip {
            skip(shape, (stage, step), &at, &request(name, &at), &reading)
        } else {
            decide(shape, (stage, step), &at, &event.run, &reading)
        };
        check_move(shape, &at, &event.run, &moved, (stage, step), now)?;
        if !moved.keep_memory || event.crash {
            memory = None;
        }
        if event.crash {
            now += Duration::from_secs(10);
        }
        if let AfterCommit::Sleep { until, .. } = moved.then {
            now = until.max(now);
        }
        position = moved.position;
        if position.state.is_final() {
            return Ok(position);
        }
    }
    Err(format!("it never ends: {position:?}"))
}

/// An operator's request to skip the step that runs next.
fn request(stage: &str, position: &Position) -> Skip {
    let step = position.step.clone().unwrap_or_default();
    Skip { stage: stage.to_owned(), step, reason: "an operator said so".into() }
}

fn check_move(
    shape: &Shape,
    before: &Position,
    run: &RunEnd,
    moved: &Move,
    (stage, step): (usize, usize),
    now: Timestamp,
) -> Result<(), String> {
    let after = &moved.position;
    if !before.closed.iter().all(|closed| after.closed.contains(closed)) {
        return Err("a closed stage was opened again".into());
    }
    let name = &shape.stages[stage].name;
    let last = step + 1 == shape.stages[stage].steps.len();
    let completes = matches!(moved.outcome, Outcome::Done | Outcome::Skipped | Outcome::GivenUp);
    if after.closed.contains(name) && !(last && completes) {
        return Err(format!("{name} was closed before its last step was done"));
    }
    if (moved.then == AfterCommit::End) != after.state.is_final() {
        return Err("ends without being final, or the other way round".into());
    }
    if let (RunEnd::Transient { .. }, AfterCommit::Sleep { until, .. }) = (run, &moved.then)
        && *until <= now
        && before.started_at.is_none_or(|started| started + shape.limit > now)
    {
        return Err("an error is retried without a pause".into());
    }
    if let (AfterCommit::Sleep { until, .. }, Some(started)) = (&moved.then, after.started_at)
        && *until > started + shape.limit
    {
        return Err("sleeps beyond the operation's limit".into());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_operation_ends_and_no_finished_stage_runs_again(
        stages in proptest::collection::vec(1_usize..4, 1..5),
        events in events(),
        skip in any::<bool>(),
    ) {
        let retry = Retry::DEFAULT.failing_for(20 * MINUTE).waiting_for(60 * MINUTE);
        let shape = shape(&stages, if skip { retry.then_skip() } else { retry });

        let last = live(&shape, &events, PlantedBug::Nothing).map_err(TestCaseError::fail)?;

        prop_assert!(last.state.is_final());
        prop_assert!(last.ended_at.is_some());
        if last.state == State::Succeeded {
            prop_assert_eq!(last.closed.len(), stages.len());
        }
    }
}

#[test]
fn the_property_is_red_when_a_stage_is_closed_before_its_last_step() {
    let shape = shape(&[2, 1], Retry::DEFAULT);
    let done =
        Event { run: RunEnd::Returned(Ending::Done), crash: false, skip: false, jitter: 0.0 };

    assert!(live(&shape, &[done], PlantedBug::StageClosedEarly).is_err());
}

#[test]
fn the_property_is_red_when_errors_are_retried_without_a_pause() {
    let shape = shape(&[1], Retry::DEFAULT);
    let fails = Event { run: boom(), crash: false, skip: false, jitter: 0.0 };

    assert!(live(&shape, &[fails], PlantedBug::NoBackOff).is_err());
}
