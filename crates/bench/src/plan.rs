//! The operation that is measured: eleven steps that do nothing, with 4 KB of data.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use engine::{Cx, Operation, OperationId, Plan, Step, StepResult, done, waiting};
use serde::{Deserialize, Serialize};

/// How many steps an operation has.
pub(super) const STEPS: u32 = 11;
const PAYLOAD: usize = 4_000;

/// The work of the first step; all others do nothing.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Begins {
    /// Nothing.
    AtOnce,
    /// Waits once, for so many milliseconds.
    AfterWaiting(u64),
    /// Waits again and again, as the replica's options say.
    Polling,
}

/// The request.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) begins: Begins,
}

/// 4 KB that no compression makes smaller.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Payload {
    pub(super) text: String,
}

impl Payload {
    pub(super) fn random() -> Self {
        Self { text: std::iter::repeat_with(fastrand::alphanumeric).take(PAYLOAD).collect() }
    }
}

/// The environment of the steps: counters, and the system they wait for.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) runs: AtomicU64,
    pub(super) ended: AtomicU64,
    /// The operations that have run or asked, where that matters.
    pub(super) who: Mutex<HashSet<OperationId>>,
    /// When operations began, where that matters.
    pub(super) began: Option<Mutex<HashMap<OperationId, Instant>>>,
    /// How long a polling step waits.
    pub(super) poll: Duration,
}

impl Counters {
    /// Whether this operation comes for the first time.
    fn is_new(&self, id: OperationId) -> bool {
        self.who.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }
}

/// The kind of operation that is measured.
pub(super) struct MeasuredOperation;

impl Operation for MeasuredOperation {
    const KIND: &'static str = "bench";
    type Input = Shape;
    type Data = Payload;
    type Memory = ();
    type Env = Counters;
}

struct First;

impl Step<MeasuredOperation> for First {
    const NAME: &'static str = "First";

    async fn run(&self, cx: &mut Cx<'_, MeasuredOperation>) -> StepResult {
        if let Some(began) = &cx.env.began {
            let mut began = began.lock().unwrap_or_else(PoisonError::into_inner);
            began.insert(cx.operation, Instant::now());
        }
        cx.env.runs.fetch_add(1, Ordering::Relaxed);
        match cx.input.begins {
            Begins::AtOnce => done(),
            Begins::AfterWaiting(wait) => {
                if !cx.env.is_new(cx.operation) {
                    return done();
                }
                waiting("the other system is busy").at_latest(Duration::from_millis(wait)).into()
            }
            Begins::Polling => {
                cx.env.is_new(cx.operation);
                waiting("the other system is busy").at_latest(cx.env.poll).into()
            }
        }
    }
}

struct Nothing<const N: usize>;

impl<const N: usize> Step<MeasuredOperation> for Nothing<N> {
    const NAME: &'static str =
        ["Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth", "Tenth"][N];

    async fn run(&self, cx: &mut Cx<'_, MeasuredOperation>) -> StepResult {
        cx.env.runs.fetch_add(1, Ordering::Relaxed);
        done()
    }
}

struct Last;

impl Step<MeasuredOperation> for Last {
    const NAME: &'static str = "Last";

    async fn run(&self, cx: &mut Cx<'_, MeasuredOperation>) -> StepResult {
        cx.env.runs.fetch_add(1, Ordering::Relaxed);
        cx.env.ended.fetch_add(1, Ordering::Relaxed);
        done()
    }
}

/// Three stages, eleven steps.
pub(super) fn plan() -> Plan<MeasuredOperation> {
    Plan::within(Duration::from_secs(24 * 3600))
        .stage("start")
        .step(First)
        .stage("create")
        .step(Nothing::<0>)
        .step(Nothing::<1>)
        .step(Nothing::<2>)
        .step(Nothing::<3>)
        .step(Nothing::<4>)
        .stage("finish")
        .step(Nothing::<5>)
        .step(Nothing::<6>)
        .step(Nothing::<7>)
        .step(Nothing::<8>)
        .step(Last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_has_as_many_steps_as_the_figures_say() {
        let shape = plan().check().unwrap().shape;

        assert_eq!(shape.steps(), STEPS as usize);
    }
}
