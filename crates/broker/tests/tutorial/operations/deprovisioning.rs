//! Removes an instance: the plan, with one step more.

mod goodbye_world;
mod init_step;

use std::{collections::BTreeSet, ops::Deref, sync::Arc};

use broker::operations::deprovisioning::{Input, Limits};
use engine::{Operation, Plan, Step, StepError, StepResult, done};
use serde::{Deserialize, Serialize};
use store::BrokerStore;

use super::env::Env;
use crate::Details;

/// The end of an instance.
pub struct Deprovisioning;

impl Operation for Deprovisioning {
    const KIND: &'static str = "deprovision";
    type Input = Input;
    type Data = Data;
    type Memory = ();
    type Env = Reach;
}

/// What the steps may reach: what all steps may, and the rows that only removals read.
pub struct Reach {
    /// What all steps may reach.
    pub env: Arc<Env>,
    /// The broker's own rows.
    pub store: BrokerStore,
}

impl Deref for Reach {
    type Target = Env;

    fn deref(&self) -> &Env {
        &self.env
    }
}

/// What the steps have learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// What was known about the instance, and what of it has gone since.
    pub details: Details,
    /// The steps that have not found their thing gone yet, by name.
    pub left: BTreeSet<String>,
}

impl Data {
    /// What these steps had to remove is gone.
    fn gone(&mut self, steps: &[&str]) -> StepResult {
        self.left.retain(|left| !steps.contains(&left.as_str()));
        done()
    }
}

/// Which of the systems are there that one can do without.
#[derive(Clone, Copy)]
pub struct Systems {
    /// Greetings.
    pub greetings: bool,
}

/// What is done with every instance. Each step is a stage, so that what was done is never done again.
pub fn plan(limits: &Limits, systems: Systems) -> Plan<Deprovisioning> {
    let Limits { failing, .. } = *limits;
    Plan::within(limits.operation)
        .stage("Init_Step")
        .step(init_step::InitStep { steps: steps(systems) }.failing_for(failing))
        .stage("Goodbye_World")
        .step(
            goodbye_world::GoodbyeWorld
                .needs("greetings", systems.greetings)
                .failing_for(failing)
                .or_skip(),
        )
}

/// The steps that have something to remove.
fn steps(systems: Systems) -> Vec<&'static str> {
    use Step as S;
    type D = Deprovisioning;
    let all = [(<goodbye_world::GoodbyeWorld as S<D>>::NAME, systems.greetings)];
    all.into_iter().filter_map(|(name, on)| on.then_some(name)).collect()
}

/// What a call that failed means here: whatever it was, somebody may get it out of the way before the time is up.
fn calling(error: clients::Error) -> StepError {
    match StepError::from(error) {
        StepError::Fatal(failure) => StepError::transient(failure),
        passing => passing,
    }
}
