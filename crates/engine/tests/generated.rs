//! The generated tests of a plan, and that they find steps that are not safe to run again.
#![allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::{Clock, Failure, caller};
use engine::{
    Applies, Condition, Cx, Operation, Plan, Retry, State, Step, StepError, StepResult, done,
    testing::{InMemory, Part, Proof, Scenario, Setting, prove, prove_part, prove_step, try_out},
    wait,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An outside system that keeps things by name, and refuses a second one of the same name.
#[derive(Default)]
struct Shop {
    things: Mutex<BTreeMap<String, u32>>,
    faulty: Faulty,
    clock: Option<Clock>,
}

/// What is wrong with the steps that use it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Faulty {
    #[default]
    Nothing,
    /// Makes without looking, and the outside makes another one.
    DoesNotLook,
    /// Counts in its data, so that a second run counts again.
    CountsItsRuns,
    /// Keeps in its data what only the memory of the same run knows.
    TrustsItsNotes,
}

impl Shop {
    async fn make(&self, name: &str) -> Result<(), StepError> {
        caller::call(async |_| *self.things.lock().unwrap().entry(name.into()).or_default() += 1)
            .await?;
        Ok(())
    }

    async fn has(&self, name: &str) -> Result<bool, StepError> {
        Ok(caller::call(async |_| self.things.lock().unwrap().contains_key(name)).await?)
    }
}

struct Build;

impl Operation for Build {
    const KIND: &'static str = "build";
    type Input = String;
    type Data = Data;
    type Memory = Memory;
    type Env = Shop;
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Data {
    name: Option<String>,
    runs: u32,
}

#[derive(Default)]
struct Memory {
    credentials: Option<String>,
}

struct Name;

impl Step<Build> for Name {
    const NAME: &'static str = "Name";
    async fn run(&self, cx: &mut Cx<'_, Build>) -> StepResult {
        cx.data.name.get_or_insert_with(|| format!("thing-{}", cx.input));
        if cx.env.faulty == Faulty::CountsItsRuns {
            cx.data.runs += 1;
        }
        done()
    }
}

struct Credentials;

impl Step<Build> for Credentials {
    const NAME: &'static str = "Credentials";
    async fn run(&self, cx: &mut Cx<'_, Build>) -> StepResult {
        cx.memory.credentials = Some("for the shop".into());
        done()
    }
}

struct Make;

impl Step<Build> for Make {
    const NAME: &'static str = "Make";
    async fn run(&self, cx: &mut Cx<'_, Build>) -> StepResult {
        let (Some(name), Some(_)) = (cx.data.name.clone(), &cx.memory.credentials) else {
            let lost = Failure::new("test", "memory", "an earlier step did not run");
            return Err(StepError::fatal(lost));
        };
        let there = match cx.env.faulty {
            Faulty::DoesNotLook => false,
            Faulty::TrustsItsNotes => cx.data.runs > 0,
            _ => cx.env.has(&name).await?,
        };
        if !there {
            cx.env.make(&name).await?;
        }
        if cx.env.faulty == Faulty::TrustsItsNotes {
            cx.data.runs = 1;
        }
        done()
    }
}

struct Ready;

impl Step<Build> for Ready {
    const NAME: &'static str = "Ready";
    const RETRY: Retry = Retry::every(Duration::from_secs(10));
    async fn run(&self, cx: &mut Cx<'_, Build>) -> StepResult {
        let clock = cx.env.clock.as_ref().unwrap();
        // The outside world goes on with the same clock.
        if clock.now().as_second() % 60 < 30 {
            return wait("the shop is closed");
        }
        done()
    }
}

struct Never;

impl Step<Build> for Never {
    const NAME: &'static str = "Never";
    async fn run(&self, _: &mut Cx<'_, Build>) -> StepResult {
        unreachable!("its condition never holds")
    }
}

struct Trying(Faulty);

impl Scenario for Trying {
    type Operation = Build;

    async fn fresh(&self, clock: &Clock) -> Setting<Build> {
        let shop = Arc::new(Shop { faulty: self.0, clock: Some(clock.clone()), ..Shop::default() });
        let world = shop.clone();
        Setting {
            instance: "instance".into(),
            plan: Plan::within(Duration::from_secs(3600))
                .stage("name")
                .step(Name)
                .stage("make")
                .step(Credentials)
                .step(Make)
                .step(Ready)
                .step(Never.when(Condition::new("it is never", |_| Applies::No("never".into())))),
            env: shop,
            input: "1".into(),
            data: Data::default(),
            world: Box::new(move || {
                let world = json!(*world.things.lock().unwrap());
                Box::pin(std::future::ready(world))
            }),
        }
    }
}

#[tokio::test]
async fn a_plan_runs_to_its_end_on_a_held_clock_without_waiting() {
    let tried = try_out(&Trying(Faulty::Nothing), &InMemory::default(), None).await;

    assert_eq!(tried.end.state, State::Succeeded);
    assert_eq!(tried.end.closed, ["name", "make"]);
    assert_eq!(tried.end.world, json!({"thing-1": 1}));
}

#[tokio::test]
async fn p08_p16_a_good_plan_ends_the_same_way_whatever_happens() {
    let proof = prove(&Trying(Faulty::Nothing), &InMemory::default()).await;

    assert!(proof.crashes > 30, "{proof:?}");
    assert!(proof.lost_answers >= 2, "{proof:?}");
}

#[tokio::test]
async fn every_trial_belongs_to_exactly_one_part() {
    let (good, memory) = (Trying(Faulty::Nothing), InMemory::default());
    let whole = prove(&good, &memory).await;

    let mut sum = Proof::default();
    for part in 0..3 {
        let Part { tried: proof, whole: all } = prove_part(&good, &memory, part, 3).await;
        assert_eq!(all, whole);
        assert!(proof.trials * 6 > whole.trials, "part {part} is small: {proof:?} of {whole:?}");
        sum.trials += proof.trials;
        sum.crashes += proof.crashes;
        sum.lost_answers += proof.lost_answers;
    }

    assert_eq!(sum, whole);
}

#[tokio::test]
async fn one_step_can_be_proven_alone() {
    let good = Trying(Faulty::Nothing);
    let whole = prove(&good, &InMemory::default()).await;

    let proof = prove_step(&good, &InMemory::default(), "Make").await;
    let hasty = Trying(Faulty::DoesNotLook);
    let caught =
        tokio::spawn(async move { prove_step(&hasty, &InMemory::default(), "Make").await });

    assert!(proof.crashes > 5 && proof.lost_answers == whole.lost_answers, "{proof:?}");
    assert!(proof.trials < whole.trials / 2, "{proof:?}");
    assert!(caught.await.is_err());
}

#[tokio::test]
#[should_panic(expected = "Nobody does not run")]
async fn a_step_that_does_not_run_proves_nothing() {
    prove_step(&Trying(Faulty::Nothing), &InMemory::default(), "Nobody").await;
}

async fn is_found(faulty: Faulty) -> String {
    let tried = tokio::spawn(async move { prove(&Trying(faulty), &InMemory::default()).await });
    let panic = tried.await.expect_err("the fault is found").into_panic();
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[tokio::test]
async fn p08_is_red_for_a_step_that_does_not_look_before_it_acts() {
    let found = is_found(Faulty::DoesNotLook).await;

    assert!(found.contains("ends differently"), "{found}");
    let expected: Value = json!({"thing-1": 2});
    assert!(found.contains(&format!("{:#?}", expected["thing-1"])), "{found}");
}

#[tokio::test]
async fn p08_is_red_for_a_step_that_is_changed_by_running_twice() {
    assert!(is_found(Faulty::CountsItsRuns).await.contains("RunTwice"));
}

#[tokio::test]
async fn p16_is_red_for_a_step_that_trusts_its_own_notes() {
    let found = is_found(Faulty::TrustsItsNotes).await;

    assert!(found.contains("ends differently"), "{found}");
}
