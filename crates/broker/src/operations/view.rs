//! What operators see of operations, and the port through which they see it.
//!
//! The router knows these types and this trait; the server implements it over the store.

use std::{future::Future, pin::Pin, sync::Arc};

use base::Failure;
use domain::OperationId;
use engine::storage::{Cancel, Snapshot};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::broadcast;
use uuid::Uuid;

pub use engine::{Event, Explanation, State, storage::Entry};

/// What an async method of a port gives back.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ViewError>> + Send + 'a>>;

/// Operations, as the router sees them.
pub trait Operations: Send + Sync {
    /// One page of operations, newest first.
    fn list(&self, ask: PageAsk) -> Answer<'_, Page>;
    /// One operation.
    fn find(&self, id: OperationId) -> Answer<'_, OperationView>;
    /// Its journal, oldest first.
    fn journal(&self, id: OperationId) -> Answer<'_, Vec<Entry>>;
    /// Why it waits: the reason, since when, the next try, what happens at the limit.
    fn waiting(&self, id: OperationId) -> Answer<'_, Explanation>;
    /// Asks it to end at its next step boundary.
    fn cancel(&self, id: OperationId, reason: String) -> Answer<'_, OperationView>;
    /// Accepts a demonstration.
    fn demonstrate(&self) -> Answer<'_, OperationId>;
    /// What happens from now on in this process, after it is stored. Slow readers miss some.
    fn events(&self) -> broadcast::Receiver<Arc<Event>>;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no such operation.
    #[error("operation {0} does not exist")]
    Unknown(OperationId),
    /// It has ended already.
    #[error("operation {0} has ended")]
    Ended(OperationId),
    /// The store is not available.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something is wrong here.
    #[error("the store answered something unexpected")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Which operations to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageAsk {
    /// How many at most.
    pub limit: u32,
    /// Begin behind this one.
    pub after: Option<OperationId>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those of this instance.
    pub instance: Option<String>,
}

/// The most operations one page may hold.
pub const LARGEST_PAGE: u32 = 500;

impl Default for PageAsk {
    fn default() -> Self {
        Self { limit: 50, after: None, state: None, instance: None }
    }
}

/// One page of operations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    /// The operations, newest first.
    pub operations: Vec<OperationView>,
    /// Pass it as `after` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<OperationId>,
}

/// One operation. Neither its input nor its data is in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationView {
    /// Its id.
    pub id: OperationId,
    /// The first operation of its line.
    pub root: OperationId,
    /// What it works on.
    pub instance: String,
    /// Which plan it follows.
    pub kind: String,
    /// Its state.
    pub state: State,
    /// The open stage.
    pub stage: Option<String>,
    /// The step that runs next.
    pub step: Option<String>,
    /// Finished stages.
    pub closed: Vec<String>,
    /// Steps executed but not completed.
    pub incomplete: Vec<String>,
    /// Why it waits, or what it said last.
    pub note: Option<String>,
    /// The last failure.
    pub failure: Option<Failure>,
    /// How many runs it has had.
    pub runs: i64,
    /// Which replica owns it.
    pub owner: Option<Uuid>,
    /// When it is due.
    pub due_at: Option<Timestamp>,
    /// Whether it was asked to end, and why.
    pub cancel: Option<Cancel>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When it left `pending`.
    pub started_at: Option<Timestamp>,
    /// When it was last written.
    pub updated_at: Timestamp,
    /// When it became final.
    pub ended_at: Option<Timestamp>,
}

impl From<Snapshot> for OperationView {
    fn from(snapshot: Snapshot) -> Self {
        Self {
            id: snapshot.id.into(),
            root: snapshot.root.into(),
            instance: snapshot.instance,
            kind: snapshot.kind,
            state: snapshot.state,
            stage: snapshot.stage,
            step: snapshot.step,
            closed: snapshot.closed,
            incomplete: snapshot.incomplete,
            note: snapshot.note,
            failure: snapshot.failure,
            runs: snapshot.runs,
            owner: snapshot.owner,
            due_at: snapshot.due_at,
            cancel: snapshot.cancel,
            created_at: snapshot.created_at,
            started_at: snapshot.started_at,
            updated_at: snapshot.updated_at,
            ended_at: snapshot.ended_at,
        }
    }
}
