//! Rows as the tables have them, and what the engine makes of them.

use std::str::FromStr;

use base::Failure;
use engine::{
    Position, State, StepClock,
    storage::{Cancel, Entry, EntryEvent, HeldOperation, OperationId, Outcome, Skip, Snapshot},
};
use uuid::Uuid;

use crate::{Error, Moment, SealLocation, Sealer};

/// The columns of [`OperationRow`], of the table `operations AS o`.
macro_rules! columns {
    () => {
        "o.id, o.root, o.instance, o.kind, o.data_version, o.lane, o.state, o.stage, o.step,
         o.closed, o.incomplete, o.clocks, o.note, o.failure, o.owner, o.epoch, o.serial, o.runs,
         o.journal, o.held, o.due_at, o.cancel_state, o.cancel_reason, o.skip_stage, o.skip_step,
         o.skip_reason, o.created_at, o.started_at, o.updated_at, o.ended_at"
    };
}
pub(super) use columns;

/// One row of `operations`.
#[derive(Debug, sqlx_macros::FromRow)]
pub(super) struct OperationRow {
    pub(super) id: Uuid,
    pub(super) root: Uuid,
    pub(super) instance: String,
    pub(super) kind: String,
    pub(super) data_version: i32,
    pub(super) lane: String,
    pub(super) state: String,
    pub(super) stage: Option<String>,
    pub(super) step: Option<String>,
    pub(super) closed: String,
    pub(super) incomplete: String,
    pub(super) clocks: Option<String>,
    pub(super) note: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) owner: Option<Uuid>,
    pub(super) epoch: i64,
    pub(super) serial: i64,
    pub(super) runs: i64,
    pub(super) journal: i64,
    pub(super) held: bool,
    pub(super) due_at: Option<Moment>,
    pub(super) cancel_state: Option<String>,
    pub(super) cancel_reason: Option<String>,
    pub(super) skip_stage: Option<String>,
    pub(super) skip_step: Option<String>,
    pub(super) skip_reason: Option<String>,
    pub(super) created_at: Moment,
    pub(super) started_at: Option<Moment>,
    pub(super) updated_at: Moment,
    pub(super) ended_at: Option<Moment>,
}

impl OperationRow {
    /// Where the operation stands.
    pub(super) fn position(&self) -> Result<Position, Error> {
        Ok(Position {
            state: word(&self.state)?,
            stage: self.stage.clone(),
            step: self.step.clone(),
            closed: names(&self.closed),
            incomplete: names(&self.incomplete),
            clocks: parsed(self.clocks.as_deref())?.unwrap_or_default(),
            started_at: self.started_at.map(Into::into),
            ended_at: self.ended_at.map(Into::into),
            note: self.note.clone(),
            failure: parsed(self.failure.as_deref())?,
        })
    }

    fn cancel(&self) -> Result<Option<Cancel>, Error> {
        cancel(self.cancel_state.as_deref(), self.cancel_reason.as_deref())
    }

    fn skip(&self) -> Option<Skip> {
        let (stage, step) = self.skip_stage.clone().zip(self.skip_step.clone())?;
        Some(Skip { stage, step, reason: self.skip_reason.clone().unwrap_or_default() })
    }

    /// As its owner gets it.
    pub(super) fn into_held(self, input: Vec<u8>, data: Vec<u8>) -> Result<HeldOperation, Error> {
        let position = self.position()?;
        let (cancel, skip) = (self.cancel()?, self.skip());
        Ok(HeldOperation {
            id: self.id,
            root: self.root,
            instance: self.instance,
            kind: self.kind,
            data_version: self.data_version,
            lane: self.lane,
            epoch: self.epoch,
            serial: self.serial,
            runs: self.runs,
            journal: self.journal,
            position,
            cancel,
            skip,
            due_at: self.due_at.unwrap_or(self.created_at).into(),
            created_at: self.created_at.into(),
            input,
            data,
        })
    }

    /// As readers get it.
    pub(super) fn into_snapshot(self, input: Vec<u8>, data: Vec<u8>) -> Result<Snapshot, Error> {
        let position = self.position()?;
        let (cancel, skip) = (self.cancel()?, self.skip());
        let StepClock { failing_since, waiting_since } =
            position.step.as_deref().map(|step| position.clock(step)).unwrap_or_default();
        Ok(Snapshot {
            id: self.id,
            root: self.root,
            instance: self.instance,
            kind: self.kind,
            data_version: self.data_version,
            lane: self.lane,
            state: position.state,
            stage: position.stage,
            step: position.step,
            closed: position.closed,
            incomplete: position.incomplete,
            failing_since,
            waiting_since,
            note: position.note,
            failure: position.failure,
            owner: self.owner,
            epoch: self.epoch,
            held: self.held,
            runs: self.runs,
            due_at: self.due_at.map(Into::into),
            cancel,
            skip,
            created_at: self.created_at.into(),
            started_at: position.started_at,
            updated_at: self.updated_at.into(),
            ended_at: position.ended_at,
            input,
            data,
        })
    }
}

/// One row of `runs`.
#[derive(Debug, sqlx_macros::FromRow)]
pub(super) struct EntryRow {
    seq: i64,
    event: String,
    stage: Option<String>,
    step: Option<String>,
    run: Option<i64>,
    times: i64,
    epoch: i64,
    replica: Option<Uuid>,
    began_at: Moment,
    ended_at: Moment,
    outcome: Option<String>,
    reason: Option<String>,
    failure: Option<String>,
    next_at: Option<Moment>,
    state: String,
    then_stage: Option<String>,
    then_step: Option<String>,
}

impl TryFrom<EntryRow> for Entry {
    type Error = Error;

    fn try_from(row: EntryRow) -> Result<Self, Error> {
        let event = EntryEvent::ALL.into_iter().find(|event| event.as_str() == row.event);
        let outcome = row.outcome.as_deref().map(|word| {
            Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == word).ok_or(word)
        });
        Ok(Self {
            seq: row.seq,
            event: event.ok_or_else(|| unknown(&row.event))?,
            stage: row.stage,
            step: row.step,
            run: row.run,
            times: row.times,
            epoch: row.epoch,
            replica: row.replica,
            began_at: row.began_at.into(),
            ended_at: row.ended_at.into(),
            outcome: outcome.transpose().map_err(unknown)?,
            reason: row.reason,
            failure: parsed::<Failure>(row.failure.as_deref())?,
            next_at: row.next_at.map(Into::into),
            state: word(&row.state)?,
            then_stage: row.then_stage,
            then_step: row.then_step,
        })
    }
}

/// A stored request to end.
pub(super) fn cancel(state: Option<&str>, reason: Option<&str>) -> Result<Option<Cancel>, Error> {
    let Some(state) = state else { return Ok(None) };
    Ok(Some(Cancel { state: word(state)?, reason: reason.unwrap_or_default().to_owned() }))
}

/// A stored state.
pub(super) fn word(word: &str) -> Result<State, Error> {
    State::from_str(word).map_err(|_| unknown(word))
}

fn unknown(word: &str) -> Error {
    Error::Unreadable(format!("\"{word}\""))
}

/// Names stored in one column. Plans do not allow commas in names.
pub(super) fn names(joined: &str) -> Vec<String> {
    joined.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

pub(super) fn parsed<T: serde::de::DeserializeOwned>(
    text: Option<&str>,
) -> Result<Option<T>, Error> {
    text.map(serde_json::from_str).transpose().map_err(|error| Error::Unreadable(error.to_string()))
}

/// A value as JSON text.
pub(super) fn written<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::Refused(error.to_string()))
}

/// Text for people, without the one character that PostgreSQL does not store.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Seals the input.
pub(super) fn seal_input(sealer: &Sealer, id: OperationId, plain: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: &id.to_string(), ..INPUT }, plain)
}

/// Opens the input.
pub(super) fn open_input(sealer: &Sealer, id: Uuid, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(sealer.open(SealLocation { row: &id.to_string(), ..INPUT }, sealed)?)
}

/// Seals what the steps have learnt.
pub(super) fn seal_data(sealer: &Sealer, id: OperationId, plain: &[u8]) -> Vec<u8> {
    sealer.seal(SealLocation { row: &id.to_string(), ..DATA }, plain)
}

/// Opens what the steps have learnt.
pub(super) fn open_data(sealer: &Sealer, id: Uuid, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    Ok(sealer.open(SealLocation { row: &id.to_string(), ..DATA }, sealed)?)
}

const INPUT: SealLocation<'static> =
    SealLocation { table: "operation_inputs", column: "input", row: "" };
const DATA: SealLocation<'static> =
    SealLocation { table: "operation_data", column: "data", row: "" };
