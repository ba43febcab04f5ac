//! Two plans to ask about: one whose step waits for parts, and one that rests.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use base::Failure;
use engine::{Cx, Operation, Retry, Step, StepError, StepResult, done, waiting};

use crate::LIMIT;

/// Instances whose parts have arrived.
pub(super) type ArrivedParts = Arc<Mutex<HashSet<String>>>;

/// Builds something once its parts have arrived.
pub(super) struct Building;

/// The same; none of these ever ends.
pub(super) struct Resting;

/// Fails once.
pub(super) struct OrderParts;

pub(super) struct WaitForParts;

impl Operation for Building {
    const KIND: &'static str = "building";
    type Input = serde_json::Value;
    type Data = bool;
    type Memory = ();
    type Env = ArrivedParts;
}

impl Operation for Resting {
    const KIND: &'static str = "resting";
    type Input = serde_json::Value;
    type Data = bool;
    type Memory = ();
    type Env = ArrivedParts;
}

impl Step<Building> for OrderParts {
    const NAME: &'static str = "Order_Parts";

    async fn run(&self, cx: &mut Cx<'_, Building>) -> StepResult {
        if std::mem::replace(cx.data, true) || !cx.instance.starts_with("flaky") {
            return done();
        }
        cx.save().await?;
        Err(StepError::transient(Failure::new("parts", "unavailable", "the shop is closed")))
    }
}

impl<O> Step<O> for WaitForParts
where
    O: Operation<Env = ArrivedParts>,
{
    const NAME: &'static str = "Wait_For_Parts";
    const RETRY: Retry = Retry::every(Duration::from_secs(5)).waiting_for(LIMIT);

    async fn run(&self, cx: &mut Cx<'_, O>) -> StepResult {
        if cx.env.lock().unwrap().contains(cx.instance) {
            return done();
        }
        waiting("the parts are on their way").into()
    }
}
