//! A commit as columns: the same for both databases, one line per commit.

use ::engine::storage::{AfterCommit, Commit, Run};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::{
    Error, Moment, Sealer,
    engine::rows::{seal_data, storable, written},
};

/// One commit. SQLite gets it as a JSON object, PostgreSQL as one element of many arrays.
#[derive(Serialize)]
pub(super) struct Line {
    #[serde(serialize_with = "hex")]
    pub(super) id: Uuid,
    pub(super) epoch: i64,
    pub(super) serial: i64,
    pub(super) state: &'static str,
    pub(super) stage: Option<String>,
    pub(super) step: Option<String>,
    pub(super) closed: String,
    pub(super) incomplete: String,
    pub(super) clocks: Option<String>,
    #[serde(serialize_with = "number")]
    pub(super) started_at: Option<Moment>,
    #[serde(serialize_with = "number")]
    pub(super) ended_at: Option<Moment>,
    pub(super) note: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) ends: bool,
    #[serde(serialize_with = "number")]
    pub(super) until: Option<Moment>,
    pub(super) awaits: Option<String>,
    /// Sealed.
    #[serde(skip)]
    pub(super) data: Option<Vec<u8>>,
    /// None when the data stays as it is, and with it its version.
    pub(super) version: Option<i32>,
    pub(super) run: Option<i64>,
    pub(super) run_stage: Option<String>,
    pub(super) run_step: Option<String>,
    #[serde(serialize_with = "number")]
    pub(super) began_at: Option<Moment>,
    #[serde(serialize_with = "number")]
    pub(super) run_ended_at: Option<Moment>,
    pub(super) outcome: Option<&'static str>,
    pub(super) reason: Option<String>,
    pub(super) run_failure: Option<String>,
    #[serde(serialize_with = "number")]
    pub(super) next_at: Option<Moment>,
    pub(super) repeats: Option<i64>,
}

impl Line {
    pub(super) fn new(sealer: &Sealer, commit: &Commit) -> Result<Self, Error> {
        let position = &commit.position;
        let run: Option<&Run> = commit.run.as_ref();
        let (until, awaits) = match &commit.then {
            AfterCommit::Sleep { until, awaits } => (Some(Moment::from(*until)), awaits.clone()),
            AfterCommit::Hold | AfterCommit::End => (None, None),
        };
        let clocks = Some(&position.clocks).filter(|clocks| !clocks.is_empty());
        Ok(Self {
            id: commit.id,
            epoch: commit.epoch,
            serial: commit.serial,
            state: position.state.as_str(),
            stage: position.stage.clone(),
            step: position.step.clone(),
            closed: position.closed.join(","),
            incomplete: position.incomplete.join(","),
            clocks: clocks.map(written).transpose()?,
            started_at: position.started_at.map(Moment::from),
            ended_at: position.ended_at.map(Moment::from),
            note: position.note.as_deref().map(storable),
            failure: position.failure.as_ref().map(written).transpose()?,
            ends: commit.then == AfterCommit::End,
            until,
            awaits,
            data: commit.data.as_deref().map(|data| seal_data(sealer, commit.id, data)),
            version: commit.data.as_ref().map(|_| commit.data_version),
            run: run.map(|run| run.number),
            run_stage: run.map(|run| run.stage.clone()),
            run_step: run.map(|run| run.step.clone()),
            began_at: run.map(|run| run.began_at.into()),
            run_ended_at: run.map(|run| run.ended_at.into()),
            outcome: run.map(|run| run.outcome.as_str()),
            reason: run.and_then(|run| run.reason.as_deref()).map(storable),
            run_failure: run.and_then(|run| run.failure.as_ref()).map(written).transpose()?,
            next_at: run.and_then(|run| run.next_at).map(Moment::from),
            repeats: run.and_then(|run| run.repeats),
        })
    }
}

fn hex<S: Serializer>(id: &Uuid, to: S) -> Result<S::Ok, S::Error> {
    id.simple().serialize(to)
}

#[expect(clippy::ref_option, reason = "serde hands out a reference to the field")]
fn number<S: Serializer>(moment: &Option<Moment>, to: S) -> Result<S::Ok, S::Error> {
    moment.map(Moment::microseconds).serialize(to)
}
