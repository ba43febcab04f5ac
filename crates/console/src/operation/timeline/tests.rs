//! Journals over plans.

use base::Failure;
use broker::operations::view::{Retry, StageShape, State};

use super::*;
use crate::testing::{at, operation};

fn shape(steps: &[&str]) -> Shape {
    let step = |name: &&str| StepShape {
        name: (*name).to_owned(),
        retry: Retry::DEFAULT,
        weight: 1,
        label: None,
        conditions: vec![],
        needs: None,
        leaves: None,
        calls: vec![],
    };
    let stages = vec![StageShape { name: "one".into(), steps: steps.iter().map(step).collect() }];
    Shape {
        kind: "provision".into(),
        limit: std::time::Duration::from_hours(24),
        stages,
        off: vec![],
    }
}

fn run(step: &str, from: i64, to: i64, outcome: Outcome) -> Entry {
    let failed = outcome == Outcome::Transient;
    Entry {
        seq: 1,
        event: EntryEvent::Run,
        stage: Some("one".into()),
        step: Some(step.into()),
        run: Some(1),
        times: 1,
        epoch: 1,
        replica: None,
        began_at: at(from),
        ended_at: at(to),
        outcome: Some(outcome),
        reason: Some("a reason".into()),
        failure: failed.then(|| Failure::new("avs", "unavailable", "503")),
        next_at: None,
        state: State::InProgress,
        then_stage: None,
        then_step: None,
    }
}

fn marks(timeline: &Timeline) -> Vec<(&str, Mark)> {
    timeline.steps().map(|line| (line.name.as_str(), line.mark)).collect()
}

#[test]
fn the_pause_after_an_error_belongs_to_the_step_that_causes_it() {
    let journal = [
        run("A", 0, 1, Outcome::Transient),
        run("A", 4, 5, Outcome::Done),
        run("B", 5, 6, Outcome::Wait),
    ];

    let timeline = Timeline::of(Some(&shape(&["A", "B", "C"])), &operation("B"), &journal, at(10));

    let [first, second] = timeline.stages[0].steps[0].bars[..] else { panic!("two runs of A") };
    assert_eq!((first.from, first.to, first.tone), (0, 400, Tone::Bad));
    assert_eq!((second.from, second.to, second.tone), (400, 500, Tone::Good));
    assert_eq!(timeline.stages[0].steps[0].took().unwrap(), SignedDuration::from_secs(5));
    assert_eq!(timeline.stages[0].steps[1].bars[0].to, 1000, "it still waits");
    assert_eq!(
        marks(&timeline),
        [("A", Mark::Done), ("B", Mark::Current(Tone::Slow)), ("C", Mark::ToCome)]
    );
    assert!(timeline.stages[0].steps[0].tries[0].failed);
    assert_eq!(timeline.progress(), (1, 3));
}

#[test]
fn after_the_end_nothing_is_to_come() {
    let mut ended = operation("B");
    (ended.state, ended.stage, ended.step) = (State::Failed, None, None);
    ended.ended_at = Some(at(5));
    let journal = [run("A", 0, 1, Outcome::Skipped), run("B", 1, 5, Outcome::Fatal)];

    let timeline = Timeline::of(Some(&shape(&["A", "B", "C"])), &ended, &journal, at(60));

    let expected = [("A", Mark::PassedOver), ("B", Mark::Failed), ("C", Mark::NotReached)];
    assert_eq!(marks(&timeline), expected);
    assert_eq!(timeline.stages[0].steps[0].note.as_deref(), Some("a reason"));
    assert_eq!(timeline.length, SignedDuration::from_secs(5));
}

#[test]
fn steps_that_are_in_no_plan_any_more_are_shown_too() {
    let journal = [run("Old", 0, 1, Outcome::Done)];

    let with = Timeline::of(Some(&shape(&["A"])), &operation("A"), &journal, at(2));
    let without = Timeline::of(None, &operation("A"), &journal, at(2));

    assert_eq!(marks(&with), [("A", Mark::Current(Tone::Slow)), ("Old", Mark::Done)]);
    assert_eq!(marks(&without), [("Old", Mark::Done)]);
}

#[test]
fn ticks_are_round_and_few() {
    let ticks = |seconds| {
        let timeline = Timeline { stages: vec![], length: SignedDuration::from_secs(seconds) };
        timeline.ticks().iter().map(|(_, time)| time.as_secs()).collect::<Vec<_>>()
    };

    assert_eq!(ticks(8), [2, 4, 6]);
    assert_eq!(ticks(400), [120, 240, 360]);
    assert_eq!(ticks(0), Vec::<i64>::new());
}
