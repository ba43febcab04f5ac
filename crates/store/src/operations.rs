//! Operations as operators see them: list, find, read the journal, ask why one waits; what gets one unstuck is in
//! `operations/unstuck.rs`. Broker and provisioner both serve it.

mod answers;
mod unstuck;

use std::sync::Arc;

use ::engine::{
    Engine, Event, Explanation, OperationId, State, Storage, StorageError,
    storage::{Entry, Snapshot},
};
use serde::Serialize;
use tokio::sync::broadcast;

use crate::{
    EngineStore, Error,
    audit::AuditLog,
    engine::{ChangedElsewhere, Filter, OperationCount, PageKey},
    error::Trouble,
    history::{self, HistoryEvent},
};

pub use answers::{
    ExceededLimit, FailedOperation, MOST_DAYS, MOST_HOURS, Present, StandingCounts, StepOrder,
    StepReport, StuckOperation, Success, UsualDurations, WaitGroup,
};

/// The most operations that one page may hold.
pub const LARGEST_PAGE: u32 = 500;

/// The operations of one service, over its engine. Clones are the same one.
#[derive(Clone)]
pub struct Operations(Engine<EngineStore>);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum OperationsError {
    /// There is no such operation.
    #[error("operation {0} does not exist")]
    Unknown(OperationId),
    /// It has ended already.
    #[error("operation {0} has ended")]
    Ended(OperationId),
    /// It does not fit how the operation stands.
    #[error("{0}")]
    Conflict(String),
    /// A field of the request is wrong.
    #[error("{field} {problem}")]
    Bad {
        /// The field.
        field: &'static str,
        /// The problem.
        problem: String,
    },
    /// The database is unavailable.
    #[error("database unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database answered something unexpected.
    #[error("unexpected answer of the database")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Which operations to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// How many at most.
    pub limit: u32,
    /// Begin behind this one.
    pub after: Option<OperationId>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those of this instance.
    pub instance: Option<String>,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: 50, after: None, state: None, instance: None }
    }
}

/// One page of operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The operations, newest first; neither input nor data is serialised.
    pub operations: Vec<Snapshot>,
    /// Pass it as `after` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<OperationId>,
}

impl Operations {
    /// The operations of the service that this engine works for.
    pub fn new(engine: Engine<EngineStore>) -> Self {
        Self(engine)
    }

    /// The engine that works on them.
    pub fn engine(&self) -> &Engine<EngineStore> {
        &self.0
    }

    /// One page, newest first.
    pub async fn list(&self, request: PageRequest) -> Result<Page, OperationsError> {
        let PageRequest { limit, after, state, instance } = request;
        let after = match after {
            Some(id) => {
                let last = self.find(id).await?;
                Some(PageKey { created_at: last.created_at, id })
            }
            None => None,
        };
        let filter = Filter { instance, state, kind: None, after, most: limit };
        let page = self.0.storage().list(&filter).await?;
        Ok(Page { operations: page.operations, next: page.next.map(|key| key.id) })
    }

    /// How many unfinished operations of each kind are in each state.
    pub async fn unfinished(&self) -> Result<Vec<OperationCount>, OperationsError> {
        Ok(self.0.storage().count().await?)
    }

    /// One operation.
    pub async fn find(&self, id: OperationId) -> Result<Snapshot, OperationsError> {
        self.0.storage().read(id).await?.ok_or(OperationsError::Unknown(id))
    }

    /// Its journal, oldest first.
    pub async fn journal(&self, id: OperationId) -> Result<Vec<Entry>, OperationsError> {
        let entries = self.0.storage().journal(id).await?;
        if entries.is_empty() {
            // The journal was trimmed, or there is no such operation.
            self.find(id).await?;
        }
        Ok(entries)
    }

    /// Why it waits: the reason, since when, the next try, what happens at the limit.
    pub async fn waiting(&self, id: OperationId) -> Result<Explanation, OperationsError> {
        self.0.explain(id).await?.ok_or(OperationsError::Unknown(id))
    }

    /// What happened to these instances or operations, in order of time: their journals and the audit. With both, to those of the
    /// operations that belong to one of the instances; without either, to the operations that were accepted last.
    pub async fn history(
        &self,
        instances: &[String],
        ids: &[OperationId],
    ) -> Result<Vec<HistoryEvent>, OperationsError> {
        let store = self.0.storage();
        let chosen = store.chosen(instances, ids).await?;
        let mut events = store.events_of(&chosen).await?;
        let about: Vec<OperationId> = chosen.iter().map(|operation| operation.id).collect();
        let named = if ids.is_empty() { instances } else { &[] };
        let entries = self.audit().of(named, &about, history::MOST_ENTRIES).await?;
        events.extend(entries.iter().map(history::of_audit));
        // Stable: what happened at the same time stays in the order of its journal.
        events.sort_by_key(|event| event.created_at);
        Ok(events)
    }

    /// The audit of the same service.
    pub fn audit(&self) -> AuditLog {
        AuditLog::new(EngineStore::clone(self.0.storage()))
    }

    /// Events of this process from now on, each after its commit. Slow readers miss some.
    pub fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.events()
    }

    /// Changes of other processes from now on, a moment after each commit. Slow readers miss some.
    pub fn changed_elsewhere(&self) -> broadcast::Receiver<Arc<ChangedElsewhere>> {
        self.0.storage().changed_elsewhere()
    }
}

impl From<Error> for OperationsError {
    fn from(error: Error) -> Self {
        match error.trouble() {
            Trouble::Broken | Trouble::Passing => Self::Unavailable(error.into()),
            Trouble::Data | Trouble::Misfit => Self::Internal(error.into()),
        }
    }
}

impl From<StorageError> for OperationsError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(_) | StorageError::Unknown(_) => {
                Self::Unavailable(error.into())
            }
            StorageError::Refused(_) => Self::Internal(error.into()),
        }
    }
}
