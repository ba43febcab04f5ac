//! Small plans that meet every rule of the engine.

use std::{sync::Arc, time::Duration};

use base::Failure;
use engine::{
    Applies, Condition, Cx, Operation, Plan, Retry, Shape, Step, StepError, StepResult, again,
    done, wait,
};
use serde::{Deserialize, Serialize};

use super::{
    outside::Outside,
    wire::{Act, Reply},
};

/// How long `Stuck` may wait before it is skipped.
pub const STUCK_FOR: Duration = Duration::from_secs(6);

/// An error is followed so soon by the next try that a look does not see yet what was made.
const RETRY: Retry = Retry::DEFAULT
    .backing_off(Duration::from_millis(100), Duration::from_secs(1))
    .polling(Duration::from_millis(150), Duration::from_millis(500))
    .failing_for(Duration::from_secs(600))
    .each_within(Duration::from_secs(5));
const LIMIT: Duration = Duration::from_secs(3600);

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    begun: bool,
    token: Option<String>,
    polls: u32,
    passes: u32,
}

/// Memory of one stage.
#[derive(Debug, Default)]
pub struct Memory {
    secret: Option<String>,
}

macro_rules! kind {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;
        impl Operation for $name {
            const KIND: &'static str = $kind;
            type Input = u32;
            type Data = Data;
            type Memory = Memory;
            type Env = Outside;
        }
    };
}

kind!(/// Three stages of everything that may happen to a step.
    Build, "build");
kind!(/// A step that never gets what it waits for, and one after it.
    Remove, "remove");
kind!(/// A step that panics.
    Poison, "poison");
kind!(/// A step that waits until it is released.
    Watch, "watch");

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
    cx.env.ensure(cx.root, &thing(cx, "Begin")).await?;
    cx.data.begun = true;
    done()
});

step!(Build, Collect, |cx| {
    // Credentials: fetched again whenever the stage starts over.
    cx.env.ensure(cx.root, &thing(cx, "Collect")).await?;
    cx.memory.secret = Some(format!("secret of {}", cx.operation));
    done()
});

step!(Build, Make, |cx| {
    if cx.memory.secret.is_none() {
        let failure = Failure::new("test", "memory", "the stage's memory is gone");
        return Err(StepError::fatal(failure));
    }
    cx.env.ensure(cx.root, &thing(cx, "Make")).await?;
    done()
});

step!(Build, Save, |cx| {
    if cx.data.token.is_none() {
        cx.data.token = Some(format!("token of {}", cx.root));
        cx.save().await?;
    }
    cx.env.ensure(cx.root, &thing(cx, "Save")).await?;
    done()
});

step!(Build, Await, |cx| {
    cx.data.polls += 1;
    cx.env.ensure(cx.root, &thing(cx, "Await")).await?;
    if cx.data.polls < 3 {
        return wait("the thing is being made");
    }
    done()
});

step!(Build, Flaky, |cx| {
    let name = thing(cx, "Flaky");
    cx.env.call(cx.root, &name, Act::Try { failures: cx.input % 4 }).await?;
    cx.env.ensure(cx.root, &name).await?;
    cx.data.passes += 1;
    if cx.data.passes == 1 && cx.input.is_multiple_of(3) {
        return again(Duration::from_millis(200), "once more from the top");
    }
    done()
});

step!(Build, Unneeded, |cx| {
    let _ = cx;
    unreachable!("its condition never holds")
});

step!(Build, Last, |cx| {
    cx.env.ensure(cx.root, &thing(cx, "Last")).await?;
    done()
});

step!(Remove, Stuck, |cx| {
    cx.env.ensure(cx.root, &thing(cx, "Stuck")).await?;
    wait("it never comes")
});

step!(Remove, Clean, |cx| {
    cx.env.ensure(cx.root, &thing(cx, "Clean")).await?;
    done()
});

step!(Poison, Panics, |cx| {
    cx.env.ensure(cx.root, &thing(cx, "Panics")).await?;
    panic!("poison")
});

step!(Watch, Watches, |cx| {
    match cx.env.call(cx.root, &thing(cx, "Watches"), Act::Watch).await? {
        Reply::There(true) => done(),
        _ => wait("nobody has said that it is over"),
    }
});

/// Creates, waits, saves, fails and starts over.
pub fn build() -> Plan<Build> {
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

/// Gives up at its limit and goes on.
pub fn remove() -> Plan<Remove> {
    Plan::within(LIMIT)
        .stage("give_up")
        .step(Stuck.waiting_for(STUCK_FOR).or_skip())
        .stage("clean")
        .step(Clean)
}

/// Panics.
pub fn poison() -> Plan<Poison> {
    Plan::within(LIMIT).stage("only").step(Panics)
}

/// Waits.
pub fn watch() -> Plan<Watch> {
    Plan::within(LIMIT).stage("only").step(Watches)
}

/// All plans, without their code.
///
/// # Panics
/// Never: the plans work.
pub fn shapes() -> [Arc<Shape>; 4] {
    [
        build().check().expect("the plan works").shape,
        remove().check().expect("the plan works").shape,
        poison().check().expect("the plan works").shape,
        watch().check().expect("the plan works").shape,
    ]
}
