//! Drives an orchestration: the plan.
//!
//! What a reader would get wrong: the driver upgrades nothing itself and holds no worker while runtimes are upgraded. It fills free
//! slots with operations of their own and sleeps until one of them ends, a window opens, or a request arrives.

mod cancel_notification;
mod complete;
mod notify_left_out;
mod refresh_targets;
mod resolve_targets;
mod send_notification;
mod start_operations;

use std::{collections::BTreeSet, time::Duration};

use base::Failure;
use engine::{Applies, Condition, Cx, Operation, Plan, Step, StepError, StepResult, done};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::broker::{MaintenanceOf, Orchestration};
use uuid::Uuid;

use super::systems::{System, Systems};
use crate::orchestrations::{OrchestrationEnv, event_type};

/// How long an orchestration may take: it may begin in a year, windows may be days apart, and pauses take as long as people do.
const LIMIT: Duration = Duration::from_hours(2 * 24 * 365);

/// The operation that drives an orchestration.
pub struct Orchestrating;

impl Operation for Orchestrating {
    const KIND: &'static str = "orchestration";
    type Input = Input;
    type Data = Data;
    type Memory = ();
    type Env = OrchestrationEnv;
}

/// The request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The orchestration.
    pub orchestration: Uuid,
    /// Whether its runtimes are known, and some are tried again.
    #[serde(default)]
    pub retry: bool,
}

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// Whether customers have to be notified that it was canceled.
    pub canceled: bool,
    /// When its runtimes were last looked for.
    pub resolved_at: Option<Timestamp>,
    /// Instances that came to it or left it since customers were notified.
    pub untold: BTreeSet<String>,
    /// Instances that have left it: those that come back are announced anew.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub left: BTreeSet<String>,
    /// Since when they cannot be notified, while it is time to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telling_since: Option<Timestamp>,
}

/// The plan for an orchestration.
pub fn plan(systems: Systems) -> Plan<Orchestrating> {
    Plan::within(LIMIT)
        .reaching(systems.iter())
        .each(resolve_targets::ResolveTargets)
        .each(send_notification::SendNotification.when(is_first()).needs(System::Spc).or_skip())
        .each(refresh_targets::RefreshTargets.when(is_first()).or_skip())
        .each(start_operations::StartOperations)
        .each(
            notify_left_out::NotifyLeftOut
                .when(is_first())
                .when(was_not_canceled())
                .needs(System::Spc)
                .or_skip(),
        )
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

/// No answer ends an orchestration that can do without the call: what is refused is tried again until the step's limit.
fn as_transient<T, E: Into<StepError>>(answer: Result<T, E>) -> Result<T, StepError> {
    answer.map_err(|error| match error.into() {
        StepError::Fatal(failure) => StepError::transient(failure),
        other => other,
    })
}

/// Makes an announcement at the end of the orchestration. It is written down before: when it is given up here, a chore goes on with it once
/// the driver has ended.
async fn announce_end(
    cx: &Cx<'_, Orchestrating>,
    call: impl Future<Output = Result<(), clients::Error>> + Send,
) -> StepResult {
    let driver =
        MaintenanceOf { operation: cx.operation, kind: Orchestrating::KIND, instance: cx.instance };
    cx.env.store().hand_over_announcement(driver).await.map_err(|error| stored(&error))?;
    as_transient(call.await)?;
    cx.env.store().forget_maintenance(cx.operation).await.map_err(|error| stored(&error))?;
    done()
}

/// A failure of the store passes.
fn stored(error: &(dyn std::error::Error + 'static)) -> StepError {
    StepError::internal(error)
}

const fn is_first() -> Condition<Orchestrating> {
    Condition::new("nothing is tried again", |cx| {
        Applies::when(!cx.input.retry, "customers were notified at the first try")
    })
}

const fn was_canceled() -> Condition<Orchestrating> {
    Condition::new("the orchestration was canceled", |cx| {
        Applies::when(cx.data.canceled, "the orchestration was not canceled")
    })
}

const fn was_not_canceled() -> Condition<Orchestrating> {
    Condition::new("the orchestration was not canceled", |cx| {
        Applies::when(!cx.data.canceled, "the whole announcement is taken back")
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
