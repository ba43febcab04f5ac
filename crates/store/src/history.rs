//! What happened to instances, for people: the journals of their operations and the audit, in the form that the clients of `/events`
//! know.
//!
//! What a reader would get wrong: an entry of the journal may be two events. The step that ends an operation is one, and the end
//! is another.

use ::engine::{
    OperationId, State,
    storage::{Entry, EntryEvent, Outcome, Snapshot},
};
use jiff::Timestamp;
use serde::Serialize;

use crate::{EngineStore, Error, audit::AuditEntry};

/// The operations of how many are listed at most, the last accepted ones first.
pub const MOST_OPERATIONS: usize = 2_000;
/// The same when nothing in particular is asked for, and of one instance.
const LATEST: u32 = 200;

/// How many entries of the audit are listed at most.
pub(crate) const MOST_ENTRIES: u32 = 5_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryEvent {
    /// Names the event.
    #[serde(rename = "ID")]
    pub id: String,
    /// Whether something went wrong.
    #[serde(rename = "Level")]
    pub level: Level,
    /// The instance.
    #[serde(rename = "InstanceID")]
    pub instance: Option<String>,
    /// The operation; empty where there is none, because known clients do not survive null.
    #[serde(rename = "OperationID")]
    pub operation: String,
    /// What happened.
    #[serde(rename = "Message")]
    pub message: String,
    /// When.
    #[serde(rename = "CreatedAt")]
    pub created_at: Timestamp,
}

/// Whether something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    Info,
    /// Something.
    Error,
}

impl EngineStore {
    /// The operations of these instances, the newest 200 of each, or those of these ids, the newest [`MOST_OPERATIONS`] in all; with
    /// both, those of these ids that belong to one of these instances; without either, the latest of all. However old an instance is,
    /// so many are read and no more.
    pub async fn chosen(
        &self,
        instances: &[String],
        ids: &[OperationId],
    ) -> Result<Vec<Snapshot>, Error> {
        if instances.is_empty() && ids.is_empty() {
            let filter = crate::engine::Filter { most: LATEST, ..Default::default() };
            return Ok(self.list(&filter).await?.operations);
        }
        let mut chosen = if ids.is_empty() {
            let names: Vec<&str> = instances.iter().map(String::as_str).collect();
            self.newest_of_instances(&names, LATEST).await?
        } else {
            self.of_ids(ids).await?
        };
        if !instances.is_empty() {
            chosen.retain(|operation| instances.contains(&operation.instance));
        }
        chosen.sort_by_key(|operation| (std::cmp::Reverse(operation.created_at), operation.id));
        // An instance that is named twice is read twice.
        chosen.dedup_by_key(|operation| operation.id);
        chosen.truncate(MOST_OPERATIONS);
        Ok(chosen)
    }

    /// The journals of these operations as events, one operation after the other.
    pub async fn events_of(&self, operations: &[Snapshot]) -> Result<Vec<HistoryEvent>, Error> {
        let mut events = Vec::new();
        let mut journals = self.journals(operations.iter().map(|operation| operation.id)).await?;
        for operation in operations {
            for entry in journals.remove(&operation.id).unwrap_or_default() {
                events.extend(of_entry(operation, &entry));
            }
        }
        Ok(events)
    }
}

/// An entry of the audit as an event.
pub(crate) fn of_audit(entry: &AuditEntry) -> HistoryEvent {
    let AuditEntry { action, subject, issuer, .. } = entry;
    let result = entry.result.as_deref().unwrap_or("in progress");
    let reason = entry.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let level = if result == "refused" { Level::Error } else { Level::Info };
    HistoryEvent {
        id: format!("audit-{}", entry.id),
        level,
        instance: entry.instance.clone(),
        operation: entry.operation_id.map(|id| id.to_string()).unwrap_or_default(),
        message: format!("audit: {action} {result}, by {subject} ({issuer}){reason}"),
        created_at: entry.at(),
    }
}

fn of_entry(operation: &Snapshot, entry: &Entry) -> Vec<HistoryEvent> {
    let event = |id: String, (level, message): (Level, String)| HistoryEvent {
        id,
        level,
        instance: Some(operation.instance.clone()),
        operation: operation.id.to_string(),
        message,
        created_at: entry.ended_at,
    };
    let id = format!("{}-{}", operation.id, entry.seq);
    let step = event(id.clone(), message(operation, entry));
    let end = ending(entry).map(|end| event(format!("{id}-end"), end));
    std::iter::once(step).chain(end).collect()
}

fn message(operation: &Snapshot, entry: &Entry) -> (Level, String) {
    let why = why(entry);
    let reason = |text: String| if why.is_empty() { text } else { format!("{text}: {why}") };
    let step = entry.step.as_deref().unwrap_or("-");
    match (entry.event, entry.outcome) {
        (EntryEvent::Accepted, _) => {
            (Level::Info, format!("operation {} accepted", operation.kind))
        }
        (EntryEvent::Admitted, _) => (Level::Info, "operation admitted".into()),
        (EntryEvent::Taken, _) => (Level::Info, "operation taken by a replica".into()),
        (EntryEvent::CancelRequested, _) => (Level::Info, reason("operation asked to end".into())),
        (EntryEvent::Run, Some(Outcome::Wait)) => {
            (Level::Info, reason(format!("step {step} sleeping{}", pause(entry))))
        }
        (EntryEvent::Run, Some(Outcome::Transient | Outcome::Fatal | Outcome::Panic)) => {
            (Level::Error, format!("step {step} processing returned error: {why}"))
        }
        (EntryEvent::Run, Some(Outcome::Again)) => {
            (Level::Info, reason(format!("step {step} starts its stage over")))
        }
        (EntryEvent::Run, Some(Outcome::Skipped)) => {
            (Level::Info, reason(format!("step {step} not needed")))
        }
        (EntryEvent::Run, Some(Outcome::GivenUp)) => {
            (Level::Error, reason(format!("step {step} not completed")))
        }
        (EntryEvent::Run, Some(Outcome::Ended)) => {
            (Level::Info, reason(format!("step {step} not run")))
        }
        (EntryEvent::Run, _) => (Level::Info, format!("processing step: {step}")),
    }
}

/// The end of the operation, with the entry that ended it.
fn ending(entry: &Entry) -> Option<(Level, String)> {
    if entry.event != EntryEvent::Run && entry.event != EntryEvent::CancelRequested {
        return None;
    }
    match entry.state {
        State::Succeeded => Some((Level::Info, "operation processing succeeded".into())),
        State::Failed => Some((Level::Error, format!("operation failed: {}", why(entry)))),
        State::Canceled => Some((Level::Info, format!("operation canceled: {}", why(entry)))),
        State::Pending | State::InProgress => None,
    }
}

fn why(entry: &Entry) -> String {
    let failure = entry.failure.as_ref().map(ToString::to_string);
    failure.or_else(|| entry.reason.clone()).unwrap_or_default()
}

/// For how long, and how often it has been so.
fn pause(entry: &Entry) -> String {
    let until = entry.next_at.map(|next| next.duration_since(entry.ended_at).as_secs());
    let times = if entry.times > 1 { format!(" ({}x)", entry.times) } else { String::new() };
    until.map_or(String::new(), |seconds| format!(" for {}s", seconds.max(0))) + &times
}
