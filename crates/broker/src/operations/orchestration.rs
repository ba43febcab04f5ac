//! Drives an orchestration: the plan.
//!
//! What a reader would get wrong: the driver upgrades nothing itself and holds no worker while runtimes are upgraded. It fills free
//! slots with operations of their own and sleeps until one of them ends, a window opens, or somebody asks for something.

mod cancel_notification;
mod complete;
mod refresh_targets;
mod resolve_targets;
mod send_notification;
mod start_operations;

use std::{collections::BTreeSet, time::Duration};

use base::Failure;
use clients::spc::EventType;
use domain::orchestration::Kind;
use engine::{Applies, Condition, Cx, Operation, Plan, Step, StepError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::broker::Orchestration;
use uuid::Uuid;

use super::systems::{System, Systems};
use crate::orchestrations::{Parts, kind};

/// How long an orchestration may take: windows may be days apart, and pauses take as long as people do.
const LIMIT: Duration = Duration::from_hours(24 * 365);

/// The operation that drives an orchestration.
pub struct Orchestrating;

impl Operation for Orchestrating {
    const KIND: &'static str = "orchestration";
    type Input = Input;
    type Data = Data;
    type Memory = ();
    type Env = Parts;
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The orchestration.
    pub orchestration: Uuid,
    /// Whether its runtimes are known, and some are tried again.
    #[serde(default)]
    pub retry: bool,
}

/// What the steps have learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// Whether customers have to be told that it was canceled.
    pub canceled: bool,
    /// When its runtimes were last looked for.
    pub resolved_at: Option<Timestamp>,
    /// Instances that came to it or left it since customers were told.
    pub untold: BTreeSet<String>,
    /// Since when they cannot be told, while it is time to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telling_since: Option<Timestamp>,
}

/// What is done for an orchestration.
pub fn plan(systems: Systems) -> Plan<Orchestrating> {
    Plan::within(LIMIT)
        .reaching(systems.iter())
        .each(resolve_targets::ResolveTargets)
        .each(send_notification::SendNotification.when(is_first()).needs(System::Spc).or_skip())
        .each(refresh_targets::RefreshTargets.when(is_first()).or_skip())
        .each(start_operations::StartOperations)
        .each(
            cancel_notification::CancelNotification
                .when(was_canceled())
                .needs(System::Spc)
                .or_skip(),
        )
        .each(complete::Complete)
}

/// The orchestration as it is now.
async fn orchestration(cx: &Cx<'_, Orchestrating>) -> Result<Orchestration, StepError> {
    let id = cx.input.orchestration;
    let found = cx.env.store().orchestration(id).await.map_err(|error| stored(&error))?;
    found.ok_or_else(|| {
        let text = format!("there is no orchestration {id}");
        StepError::fatal(Failure::new("broker", "orchestration_missing", text))
    })
}

/// What customers are told that is done to each runtime.
fn event_type(row: &Orchestration) -> EventType {
    match kind(row) {
        Kind::UpgradeKyma => EventType::Kyma,
        Kind::UpgradeCluster => EventType::Cluster,
    }
}

/// No answer of SPC ends an orchestration: what it refuses is tried again until the step's limit, and then done without.
fn told<T>(answer: Result<T, clients::Error>) -> Result<T, StepError> {
    answer.map_err(|error| match StepError::from(error) {
        StepError::Fatal(failure) => StepError::transient(failure),
        other => other,
    })
}

/// A failure of the store passes.
fn stored(error: &(dyn std::error::Error + 'static)) -> StepError {
    StepError::internal(error)
}

const fn is_first() -> Condition<Orchestrating> {
    Condition::new("nothing is tried again", |cx| {
        Applies::when(!cx.input.retry, "customers were told at the first try")
    })
}

const fn was_canceled() -> Condition<Orchestrating> {
    Condition::new("the orchestration was canceled", |cx| {
        Applies::when(cx.data.canceled, "the orchestration was not canceled")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_in_the_folder_is_a_step_of_the_plan() {
        let shape = plan(Systems::ALL).check().unwrap().shape;
        let steps = shape.stages.iter().flat_map(|stage| &stage.steps);
        let mut steps: Vec<String> = steps.map(|step| step.name.to_lowercase()).collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/orchestration");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<String> = files
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();

        steps.sort();
        files.sort();
        assert_eq!(steps, files);
    }
}
