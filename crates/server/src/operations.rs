//! The operators' view of operations, over the engine and its store.

use std::sync::Arc;

use broker::operations::{
    demonstration,
    view::{
        Answer, Entry, Event, Explanation, OperationView, Operations, Page, PageAsk, ViewError,
    },
};
use domain::OperationId;
use engine::{
    Engine, Storage, StorageError,
    storage::{Acceptance, Snapshot},
};
use store::{
    EngineStore,
    engine::{Filter, PageKey},
};
use tokio::sync::broadcast;

/// See the module.
pub(crate) struct Stored(pub(crate) Engine<EngineStore>);

impl Stored {
    async fn snapshot(&self, id: &OperationId) -> Result<Snapshot, ViewError> {
        let found = self.0.storage().read(id.uuid()).await.map_err(trouble)?;
        found.ok_or_else(|| ViewError::Unknown(id.clone()))
    }

    async fn page(&self, ask: PageAsk) -> Result<Page, ViewError> {
        let after = match &ask.after {
            Some(id) => {
                let last = self.snapshot(id).await?;
                Some(PageKey { created_at: last.created_at, id: last.id })
            }
            None => None,
        };
        let filter =
            Filter { instance: ask.instance, state: ask.state, kind: None, after, most: ask.limit };
        let page = self.0.storage().list(&filter).await.map_err(|error| match error.trouble() {
            store::error::Trouble::Broken | store::error::Trouble::Passing => {
                ViewError::Unavailable(error.into())
            }
            _ => ViewError::Internal(error.into()),
        })?;
        Ok(Page {
            operations: page.operations.into_iter().map(Into::into).collect(),
            next: page.next.map(|key| key.id.into()),
        })
    }

    async fn call_off(&self, id: OperationId, reason: String) -> Result<OperationView, ViewError> {
        let asked = self.0.cancel(id.uuid(), reason).await.map_err(trouble)?;
        let snapshot = self.snapshot(&id).await?;
        if asked { Ok(snapshot.into()) } else { Err(ViewError::Ended(id)) }
    }

    /// Accepts a demonstration ordered by somebody.
    pub(crate) async fn demonstrate_for(&self, whom: &str) -> Result<OperationId, ViewError> {
        let order = demonstration::order(whom);
        let id = order.id;
        match self.0.accept(order, &demonstration::pairs).await.map_err(trouble)? {
            Acceptance::Started | Acceptance::Queued => Ok(id.into()),
            Acceptance::Same(other) | Acceptance::Refused(other) => Ok(other.into()),
        }
    }
}

impl Operations for Stored {
    fn list(&self, ask: PageAsk) -> Answer<'_, Page> {
        Box::pin(self.page(ask))
    }

    fn find(&self, id: OperationId) -> Answer<'_, OperationView> {
        Box::pin(async move { self.snapshot(&id).await.map(Into::into) })
    }

    fn journal(&self, id: OperationId) -> Answer<'_, Vec<Entry>> {
        Box::pin(async move {
            let entries = self.0.storage().journal(id.uuid()).await.map_err(trouble)?;
            if entries.is_empty() {
                // Trimmed, or never there.
                self.snapshot(&id).await?;
            }
            Ok(entries)
        })
    }

    fn waiting(&self, id: OperationId) -> Answer<'_, Explanation> {
        Box::pin(async move {
            let found = self.0.explain(id.uuid()).await.map_err(trouble)?;
            found.ok_or(ViewError::Unknown(id))
        })
    }

    fn cancel(&self, id: OperationId, reason: String) -> Answer<'_, OperationView> {
        Box::pin(self.call_off(id, reason))
    }

    fn demonstrate(&self) -> Answer<'_, OperationId> {
        Box::pin(self.demonstrate_for("an operator"))
    }

    fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.0.events()
    }
}

fn trouble(error: StorageError) -> ViewError {
    match error {
        StorageError::Unavailable(_) | StorageError::Unknown(_) => {
            ViewError::Unavailable(error.into())
        }
        StorageError::Refused(_) => ViewError::Internal(error.into()),
    }
}
