//! The tests that every plan gets: each step twice, a crash at every point, every answer lost, each
//! step failing for good. The end state, the outside world's too, must equal that of the undisturbed
//! run.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use base::Failure;

use crate::{
    decide::RunEnd,
    hooks::{Flow, Hooks, Point},
    position::State,
    step::{Ending, waiting},
    storage::OperationId,
    testing::trial::{End, Scenario, Stores, Tried, try_out},
};

/// How many times a point of the same step is tried; polls meet the same points again and again.
const ENOUGH: usize = 2;

/// One place at which something can be done to a run: a point, a step, and which visit it is.
type Place = (Point, String, usize);

/// What is done to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Disturbance {
    Nothing,
    CrashAt(Place),
    /// And again as soon as another incarnation has claimed the operation.
    CrashTwice(Place),
    LoseAnswerAt(Place),
    RunTwice,
    FailForGood(String),
}

/// Notes the places of a run, and disturbs one.
struct Nemesis {
    disturbance: Disturbance,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    visits: BTreeMap<(Point, String), usize>,
    places: Vec<Place>,
    hit: bool,
    done_once: Vec<String>,
    crashed_again: bool,
}

impl Nemesis {
    fn new(disturbance: Disturbance) -> Arc<Self> {
        Arc::new(Self { disturbance, seen: Mutex::default() })
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn visit(&self, point: Point, step: &str) -> Flow {
        let mut seen = self.seen();
        let visit = seen.visits.entry((point, step.to_owned())).or_default();
        *visit += 1;
        let place = (point, step.to_owned(), *visit);
        seen.places.push(place.clone());
        match &self.disturbance {
            Disturbance::CrashTwice(_)
                if seen.hit && !seen.crashed_again && point == Point::AfterClaim =>
            {
                seen.crashed_again = true;
                Flow::Crash
            }
            Disturbance::CrashAt(at) | Disturbance::CrashTwice(at) if *at == place && !seen.hit => {
                seen.hit = true;
                Flow::Crash
            }
            Disturbance::LoseAnswerAt(at) if *at == place && !seen.hit => {
                seen.hit = true;
                Flow::LoseAnswer
            }
            _ => Flow::Go,
        }
    }
}

impl Hooks for Nemesis {
    fn at<'a>(
        &'a self,
        point: Point,
        _: OperationId,
        step: &'a str,
    ) -> Pin<Box<dyn Future<Output = Flow> + Send + 'a>> {
        let flow = self.visit(point, step);
        Box::pin(std::future::ready(flow))
    }

    fn bend(&self, step: &str, end: RunEnd) -> RunEnd {
        match &self.disturbance {
            Disturbance::RunTwice if end == RunEnd::Said(Ending::Done) => {
                let mut seen = self.seen();
                if seen.done_once.iter().any(|done| done == step) {
                    return end;
                }
                seen.done_once.push(step.to_owned());
                RunEnd::Said(Ending::Wait(waiting("it is run twice")))
            }
            Disturbance::FailForGood(failing) if failing == step => RunEnd::Transient {
                failure: Failure::new("test", "for_good", "it fails for good"),
                retry_after: None,
            },
            _ => end,
        }
    }
}

/// What was tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many trials were made.
    pub trials: usize,
    /// How many of them crashed.
    pub crashes: usize,
    /// How many lost an answer.
    pub lost_answers: usize,
}

/// Proves that a plan ends the same way whatever happens on the way. Panics with the disturbance and
/// the difference otherwise.
pub async fn prove<C: Scenario, S: Stores>(scenario: &C, stores: &S) -> Proof {
    prove_some(scenario, stores, 1).await
}

/// Like [`prove`], but tries only every so-manieth disturbance: a sample, for stores that are slow to
/// make.
pub async fn prove_some<C: Scenario, S: Stores>(scenario: &C, stores: &S, every: usize) -> Proof {
    let recorder = Nemesis::new(Disturbance::Nothing);
    let undisturbed = try_out(scenario, stores, Some(recorder.clone())).await;
    let places: Vec<Place> = {
        let seen = recorder.seen();
        seen.places.iter().filter(|(.., visit)| *visit <= ENOUGH).cloned().collect()
    };
    let mut disturbances = vec![Disturbance::RunTwice];
    for place in places {
        if place.0 == Point::AfterCall {
            disturbances.push(Disturbance::LoseAnswerAt(place.clone()));
        }
        if place.0 == Point::AfterRun {
            disturbances.push(Disturbance::CrashTwice(place.clone()));
        }
        disturbances.push(Disturbance::CrashAt(place));
    }
    let mut proof = Proof::default();
    for disturbance in disturbances.into_iter().step_by(every.max(1)) {
        let tried = try_out(scenario, stores, Some(Nemesis::new(disturbance.clone()))).await;
        compare(&disturbance, &undisturbed.end, &tried);
        proof.trials += 1;
        proof.crashes += usize::from(matches!(
            disturbance,
            Disturbance::CrashAt(_) | Disturbance::CrashTwice(_)
        ));
        proof.lost_answers += usize::from(matches!(disturbance, Disturbance::LoseAnswerAt(_)));
    }
    for step in steps_of(&undisturbed).into_iter().step_by(every.max(1)) {
        let nemesis = Nemesis::new(Disturbance::FailForGood(step.clone()));
        let tried = try_out(scenario, stores, Some(nemesis)).await;
        let given_up = tried.end.incomplete.iter().any(|at| at.ends_with(&format!("/{step}")));
        assert!(
            given_up || tried.end.state == State::Failed || scenario.survives(&step),
            "{step} fails for good, and the operation ends as if nothing had happened: {:#?}",
            tried.end
        );
        proof.trials += 1;
    }
    proof
}

fn steps_of(tried: &Tried) -> Vec<String> {
    let mut steps: Vec<String> = tried
        .journal
        .iter()
        .filter_map(|entry| entry.step.clone())
        .filter(|s| !s.is_empty())
        .collect();
    steps.dedup();
    steps
}

fn compare(disturbance: &impl Debug, expected: &End, tried: &Tried) {
    assert!(
        tried.end == *expected,
        "with {disturbance:?} it ends differently\nexpected {expected:#?}\nbut it was {:#?}\njournal {:#?}",
        tried.end,
        tried.journal
    );
}
