//! An operation that changes nothing outside and shows how operations go by.

mod hand_over;
mod order_parts;
mod reserve_place;
mod starting;
mod wait_for_inspection;
mod wait_for_parts;

use std::time::Duration;

use domain::operation::Kind;
use engine::{Engine, Operation, OperationId, Order, Plan, StorageError, storage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::EngineStore;

pub struct Demonstration;

/// What was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Input {
    /// Who asked.
    pub ordered_by: String,
}

/// What the steps have learnt.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Data {
    /// The place that was reserved.
    pub place: Option<String>,
    /// When the parts were ordered.
    pub parts_ordered_at: Option<Timestamp>,
    /// When the inspection was asked for.
    pub inspection_asked_at: Option<Timestamp>,
    /// Whether the work was handed over.
    pub handed_over: bool,
}

/// The simulated things that the steps wait for.
#[derive(Debug, Clone, Copy)]
pub struct Env {
    /// How long parts take to arrive.
    pub delivery: Duration,
    /// How long an inspection takes.
    pub inspection: Duration,
}

impl Operation for Demonstration {
    const KIND: &'static str = "demonstration";
    type Input = Input;
    type Data = Data;
    type Memory = ();
    type Env = Env;
}

/// What it does.
pub fn plan(limit: Duration) -> Plan<Demonstration> {
    Plan::within(limit)
        .stage("prepare")
        .step(starting::Starting)
        .step(reserve_place::ReservePlace)
        .stage("build")
        .step(order_parts::OrderParts)
        .step(wait_for_parts::WaitForParts)
        .stage("finish")
        .step(wait_for_inspection::WaitForInspection)
        .step(hand_over::HandOver)
}

/// A new demonstration, on an instance of its own.
pub fn order(ordered_by: impl Into<String>) -> Order<Demonstration> {
    let id = domain::OperationId::new().uuid();
    Order {
        id,
        instance: format!("{}-{id}", Kind::Demonstration.as_str()),
        lane: Kind::Demonstration.as_str().into(),
        input: Input { ordered_by: ordered_by.into() },
        data: Data::default(),
        digest: None,
    }
}

/// Accepts a new demonstration.
pub async fn accept(
    engine: &Engine<EngineStore>,
    ordered_by: &str,
) -> Result<OperationId, StorageError> {
    let order = order(ordered_by);
    let id = order.id;
    match engine.accept(order, &pairs).await? {
        storage::Acceptance::Started | storage::Acceptance::Queued => Ok(id),
        storage::Acceptance::Same(other) | storage::Acceptance::Refused(other) => Ok(other),
    }
}

/// Demonstrations have an instance each, so nothing is ever before them.
pub fn pairs(_unfinished: &[storage::Unfinished]) -> storage::Verdict {
    storage::Verdict::Queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::prelude::secs;

    #[test]
    fn every_file_in_the_folder_is_a_step_of_the_plan() {
        let shape = plan(secs(60)).check().unwrap().shape;
        let mut steps: Vec<String> = shape
            .stages
            .iter()
            .flat_map(|stage| stage.steps.iter().map(|step| step.name.to_lowercase()))
            .collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/operations/demonstration");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();

        steps.sort();
        files.sort();
        assert_eq!(steps, files);
    }

    #[test]
    fn its_kind_is_the_domains_word() {
        assert_eq!(Demonstration::KIND, Kind::Demonstration.as_str());
    }
}
