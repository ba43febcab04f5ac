//! The tests that every plan gets: each step twice, a crash at every point, every answer lost, each
//! step failing for good. The end state, the outside world's too, must equal that of the undisturbed
//! run.

use std::fmt::Debug;

use crate::{
    hooks::Point,
    position::State,
    testing::{
        disturbance::{Disturbance, DisturbancePoint, Nemesis},
        stored::is_as_stored,
        trial::{Scenario, Stores, TrialEnd, TrialResult, try_out},
    },
};

/// How many times a point of the same step is tried; polls meet the same points again and again.
const ENOUGH: usize = 2;

/// Counts of the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many trials were made.
    pub trials: usize,
    /// How many of them crashed.
    pub crashes: usize,
    /// How many lost an answer.
    pub lost_answers: usize,
}

/// One part of a proof.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Counts of the trials of this part.
    pub tried: Proof,
    /// What all parts try together. How much of it falls into one part is chance: polls are not counted alike in every
    /// process.
    pub whole: Proof,
}

/// Proves that a plan ends the same way whatever happens on the way. Panics with the disturbance and
/// the difference otherwise.
pub async fn prove<C: Scenario, S: Stores>(scenario: &C, stores: &S) -> Proof {
    prove_some(scenario, stores, 1).await
}

/// One part of [`prove`], for plans that take long: all parts from 0 to `of` make the whole proof, and
/// each can be a test of its own. [`crate::proven_in_parts`] writes these tests.
pub async fn prove_part<C, S>(scenario: &C, stores: &S, part: usize, of: usize) -> Part
where
    C: Scenario,
    S: Stores,
{
    assert!(part < of, "there is no part {part} of {of}");
    let begun = UndisturbedRun::with(scenario, stores).await;
    let all = begun.disturbances();
    let mut whole = Proof::default();
    for disturbance in &all {
        whole.count(disturbance);
    }
    let tried = begun.prove(all.into_iter().filter(|it| it.part(of) == part)).await;
    Part { tried, whole }
}

/// Like [`prove`], but disturbs one step alone, for the author of a step.
pub async fn prove_step<C: Scenario, S: Stores>(scenario: &C, stores: &S, step: &str) -> Proof {
    let begun = UndisturbedRun::with(scenario, stores).await;
    assert!(steps_of(&begun.undisturbed).iter().any(|ran| ran == step), "{step} does not run");
    let all = begun.disturbances();
    begun.prove(all.into_iter().filter(|it| it.concerns(step))).await
}

/// Like [`prove`], but tries only every n-th disturbance: a sample, for stores that are slow to
/// make.
pub async fn prove_some<C: Scenario, S: Stores>(scenario: &C, stores: &S, every: usize) -> Proof {
    let begun = UndisturbedRun::with(scenario, stores).await;
    let all = begun.disturbances();
    begun.prove(all.into_iter().step_by(every.max(1))).await
}

/// A proof whose undisturbed run has been made.
struct UndisturbedRun<'a, C, S> {
    scenario: &'a C,
    stores: &'a S,
    undisturbed: TrialResult,
    places: Vec<DisturbancePoint>,
}

impl<'a, C: Scenario, S: Stores> UndisturbedRun<'a, C, S> {
    async fn with(scenario: &'a C, stores: &'a S) -> Self {
        let recorder = Nemesis::new(Disturbance::Nothing);
        let undisturbed = try_out(scenario, stores, Some(recorder.clone())).await;
        if let Some(file) = scenario.stored() {
            is_as_stored(&undisturbed.end.as_value(), &file);
        }
        let seen = recorder.seen();
        let places = seen.places.iter().filter(|(.., visit)| *visit <= ENOUGH).cloned().collect();
        drop(seen);
        Self { scenario, stores, undisturbed, places }
    }

    /// Everything that can be done to the run.
    fn disturbances(&self) -> Vec<Disturbance> {
        let mut all = vec![Disturbance::RunTwice];
        for place in &self.places {
            if place.0 == Point::AfterCall {
                all.push(Disturbance::LoseAnswerAt(place.clone()));
            }
            if place.0 == Point::AfterRun {
                all.push(Disturbance::CrashTwice(place.clone()));
            }
            all.push(Disturbance::CrashAt(place.clone()));
        }
        all.extend(steps_of(&self.undisturbed).into_iter().map(Disturbance::FailForGood));
        all
    }

    async fn prove(&self, disturbances: impl Iterator<Item = Disturbance>) -> Proof {
        let mut proof = Proof::default();
        for disturbance in disturbances {
            let nemesis = Nemesis::new(disturbance.clone());
            let tried = try_out(self.scenario, self.stores, Some(nemesis)).await;
            match &disturbance {
                Disturbance::FailForGood(step) => self.is_noticed(step, &tried),
                _ => compare(&disturbance, &self.undisturbed.end, &tried),
            }
            proof.count(&disturbance);
        }
        proof
    }

    fn is_noticed(&self, step: &str, tried: &TrialResult) {
        let given_up = tried.end.incomplete.iter().any(|at| at.ends_with(&format!("/{step}")));
        assert!(
            given_up || tried.end.state == State::Failed || self.scenario.survives(step),
            "{step} fails for good, and the operation ends as if nothing had happened: {:#?}",
            tried.end
        );
    }
}

impl Proof {
    fn count(&mut self, disturbance: &Disturbance) {
        let crash = matches!(disturbance, Disturbance::CrashAt(_) | Disturbance::CrashTwice(_));
        self.trials += 1;
        self.crashes += usize::from(crash);
        self.lost_answers += usize::from(matches!(disturbance, Disturbance::LoseAnswerAt(_)));
    }
}

/// The steps that ran, each once: a stage that starts over runs them again.
fn steps_of(tried: &TrialResult) -> Vec<String> {
    let mut steps = Vec::new();
    for step in tried.journal.iter().filter_map(|entry| entry.step.as_deref()) {
        if !step.is_empty() && !steps.iter().any(|known| known == step) {
            steps.push(step.to_owned());
        }
    }
    steps
}

fn compare(disturbance: &impl Debug, expected: &TrialEnd, tried: &TrialResult) {
    assert!(
        tried.end == *expected,
        "with {disturbance:?} it ends differently\nexpected {expected:#?}\nbut it was {:#?}\njournal {:#?}",
        tried.end,
        tried.journal
    );
}

/// A test for each part of a proof, so that they run side by side: the parts' names, first to last, after
/// the function that proves one part, given its number and how many there are.
#[macro_export]
macro_rules! proven_in_parts {
    ($prove:path: $($name:ident)+) => {
        $crate::proven_in_parts!(@ $prove, <[&str]>::len(&[$(stringify!($name)),+]), $($name)+);
    };
    // A part's number is the number of those behind it, so that none can be missing.
    (@ $prove:path, $of:expr, $name:ident $($rest:ident)*) => {
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            Box::pin($prove(<[&str]>::len(&[$(stringify!($rest)),*]), $of)).await;
        }

        $crate::proven_in_parts!(@ $prove, $of, $($rest)*);
    };
    (@ $prove:path, $of:expr,) => {};
}
