//! Small plans that meet every rule of the engine.

use std::time::Duration;

use base::Failure;
use engine::{
    Applies, Condition, Cx, Operation, Plan, Retry, Step, StepError, StepResult, again, done, wait,
    waiting,
};
use serde::{Deserialize, Serialize};

use crate::outside::OutsideConnection;

/// Every step that calls the outside, in the order of its plan: kind, stage, step.
pub(crate) const PLACES: &[(&str, &str, &str)] = &[
    ("build", "first", "Begin"),
    ("build", "first", "Collect"),
    ("build", "first", "Make"),
    ("build", "second", "Save"),
    ("build", "second", "Await"),
    ("build", "second", "Flaky"),
    ("build", "third", "Last"),
    ("remove", "give_up", "Stuck"),
    ("remove", "clean", "Clean"),
    ("panic", "only", "Panics"),
    ("slow", "only", "Slowly"),
];

/// How long `Stuck` may wait.
pub(crate) const STUCK_FOR: Duration = Duration::from_secs(15);
/// The first pause after an error.
pub(crate) const BACK_OFF: Duration = Duration::from_millis(200);

const RETRY: Retry = Retry::DEFAULT
    .backing_off(BACK_OFF, Duration::from_secs(2))
    .polling(Duration::from_millis(300), Duration::from_secs(2))
    .failing_for(Duration::from_secs(600))
    .each_within(Duration::from_secs(20));

#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
pub(crate) struct Data {
    pub begun: bool,
    pub token: Option<String>,
    pub polls: u32,
    pub passes: u32,
}

#[derive(Default)]
pub(crate) struct Memory {
    secret: Option<String>,
}

macro_rules! kind {
    ($name:ident, $kind:literal) => {
        pub(crate) struct $name;
        impl Operation for $name {
            const KIND: &'static str = $kind;
            type Input = u32;
            type Data = Data;
            type Memory = Memory;
            type Env = OutsideConnection;
        }
    };
}

kind!(Build, "build");
kind!(Remove, "remove");
kind!(Panic, "panic");
kind!(Slow, "slow");

macro_rules! step {
    ($kind:ident, $step:ident, |$cx:ident| $body:block) => {
        struct $step;
        impl Step<$kind> for $step {
            const NAME: &'static str = stringify!($step);
            const RETRY: Retry = RETRY;
            async fn run(&self, $cx: &mut Cx<'_, $kind>) -> StepResult $body
        }
    };
}

fn thing<O: Operation>(cx: &Cx<'_, O>, step: &str) -> String {
    format!("{}/{step}", cx.root)
}

step!(Build, Begin, |cx| {
    cx.env.ensure(&thing(cx, "Begin")).await?;
    cx.data.begun = true;
    done()
});

step!(Build, Collect, |cx| {
    // Credentials: fetched again whenever the stage starts over.
    cx.env.ensure(&thing(cx, "Collect")).await?;
    cx.memory.secret = Some(format!("secret of {}", cx.operation));
    done()
});

step!(Build, Make, |cx| {
    let Some(secret) = &cx.memory.secret else {
        return Err(StepError::fatal(Failure::new("test", "memory", "the stage's memory is gone")));
    };
    assert!(secret.contains("secret"));
    cx.env.ensure(&thing(cx, "Make")).await?;
    done()
});

step!(Build, Save, |cx| {
    if cx.data.token.is_none() {
        cx.data.token = Some(format!("token of {}", cx.root));
        cx.save().await?;
    }
    cx.env.ensure(&thing(cx, "Save")).await?;
    done()
});

step!(Build, Await, |cx| {
    cx.data.polls += 1;
    cx.env.ensure(&thing(cx, "Await")).await?;
    if cx.data.polls < 3 {
        return waiting("the thing is being made").or_signal(format!("thing/{}", cx.root)).into();
    }
    done()
});

step!(Build, Flaky, |cx| {
    let name = thing(cx, "Flaky");
    let left = cx.env.world.lock().unwrap().flaky.get(&name).copied().unwrap_or(0);
    if left > 0 {
        cx.env.world.lock().unwrap().flaky.insert(name, left - 1);
        return Err(StepError::transient(Failure::new("outside", "http", "502")));
    }
    cx.env.ensure(&name).await?;
    cx.data.passes += 1;
    if cx.data.passes == 1 && cx.input.is_multiple_of(3) {
        return again(Duration::from_millis(500), "once more from the top");
    }
    done()
});

step!(Build, Unneeded, |cx| {
    let _ = cx;
    unreachable!("its condition never holds")
});

step!(Build, Last, |cx| {
    cx.env.ensure(&thing(cx, "Last")).await?;
    done()
});

step!(Remove, Stuck, |cx| {
    cx.env.ensure(&thing(cx, "Stuck")).await?;
    wait("it never comes")
});

step!(Remove, Clean, |cx| {
    cx.env.ensure(&thing(cx, "Clean")).await?;
    done()
});

step!(Panic, Panics, |cx| {
    cx.env.ensure(&thing(cx, "Panics")).await?;
    panic!("poison")
});

// Calls again and again without a commit in between, for longer than an abandoned step may go on.
step!(Slow, Slowly, |cx| {
    for _ in 0..12 {
        cx.env.look(&thing(cx, "Slowly")).await?;
    }
    cx.env.ensure(&thing(cx, "Slowly")).await?;
    done()
});

const LIMIT: Duration = Duration::from_secs(3600);

pub(crate) fn build() -> Plan<Build> {
    Plan::within(LIMIT)
        .stage("first")
        .step(Begin)
        .step(Collect)
        .step(Make)
        .stage("second")
        .step(Save)
        .step(Await)
        .step(Flaky)
        .stage("third")
        .step(Unneeded.when(Condition::new("it has not begun", |cx| {
            Applies::when(!cx.data.begun, "it has begun")
        })))
        .step(Last)
}

pub(crate) fn remove() -> Plan<Remove> {
    Plan::within(LIMIT)
        .stage("give_up")
        .step(Stuck.waiting_for(STUCK_FOR).or_skip())
        .stage("clean")
        .step(Clean)
}

pub(crate) fn panic() -> Plan<Panic> {
    Plan::within(LIMIT).stage("only").step(Panics)
}

pub(crate) fn slow() -> Plan<Slow> {
    Plan::within(LIMIT).stage("only").step(Slowly)
}
