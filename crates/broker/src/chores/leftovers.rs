//! Leftovers of removed instances.
//!
//! What a reader would get wrong: it is read from the last removal itself, not from a list of its own, so it is never
//! out of date. While that removal is tried again, the list shrinks with it.

use engine::{OperationId, StorageError};
use jiff::Timestamp;
use serde::Serialize;
use store::{
    BrokerStore, EngineStore,
    broker::{Instance, InstanceFilter, PageKey},
};
use uuid::Uuid;

use crate::operations::deprovisioning::{self, Data};

/// An instance of which something is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// The instance.
    pub instance: String,
    /// Its global account.
    pub global_account: String,
    /// The subaccount.
    pub subaccount: String,
    /// The plan's name.
    pub plan_name: String,
    /// The cluster, if one was made.
    pub runtime_id: Option<Uuid>,
    /// When it was removed.
    pub since: Timestamp,
    /// The last removal.
    pub operation: Option<OperationId>,
    /// The leftovers.
    pub left: Vec<LeftoverItem>,
}

/// One thing that is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftoverItem {
    /// The step that could not remove it.
    pub step: String,
    /// Its description.
    pub what: &'static str,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The broker's rows cannot be read.
    #[error("the instances cannot be read")]
    Instances(#[from] store::Error),
    /// The removals cannot be read.
    #[error("the removals cannot be read")]
    Removals(#[source] store::Error),
    /// The operations cannot be read or written.
    #[error("the operations cannot be reached")]
    Operations(#[from] StorageError),
}

/// Some of the instances of which something is left, the longest known first, and where to go on.
pub async fn list(
    store: &BrokerStore,
    operations: &EngineStore,
    after: Option<PageKey>,
    most: u32,
) -> Result<(Vec<Leftover>, Option<PageKey>), Error> {
    let filter = InstanceFilter { deleted: Some(true), after, most, ..InstanceFilter::default() };
    let page = store.list(&filter).await?;
    let mut found = Vec::with_capacity(page.instances.len());
    for row in page.instances {
        found.extend(of_row(store, operations, row).await?);
    }
    Ok((found, page.next))
}

/// The leftovers of one instance; none when it is there, or all of it is gone.
pub async fn of(
    store: &BrokerStore,
    operations: &EngineStore,
    instance: &str,
) -> Result<Option<Leftover>, Error> {
    match store.find(instance).await? {
        Some(row) => of_row(store, operations, row).await,
        None => Ok(None),
    }
}

async fn of_row(
    store: &BrokerStore,
    operations: &EngineStore,
    row: Instance,
) -> Result<Option<Leftover>, Error> {
    let Some(since) = row.deleted_at else { return Ok(None) };
    let operation = store.last_operation(&row.id, Some(&[deprovisioning::KIND])).await?;
    let left = match operation {
        Some(id) => left_by(operations, id).await?,
        None => Vec::new(),
    };
    Ok(Some(Leftover {
        instance: row.id,
        global_account: row.global_account,
        subaccount: row.subaccount,
        plan_name: row.plan_name,
        runtime_id: row.runtime_id,
        since,
        operation,
        left,
    }))
}

async fn left_by(operations: &EngineStore, id: OperationId) -> Result<Vec<LeftoverItem>, Error> {
    let contents = operations.readable_contents(&[id]).await.map_err(Error::Removals)?;
    let data = contents.first().map(|content| serde_json::from_slice::<Data>(&content.data));
    match data {
        Some(Ok(data)) => {
            Ok(data.left.into_iter().map(|step| LeftoverItem { what: what(&step), step }).collect())
        }
        Some(Err(error)) => {
            tracing::error!(operation.id = %id, %error, "removal cannot be read");
            Ok(vec![unreadable()])
        }
        // Its row may have gone since.
        None if operations.of_ids(&[id]).await.map_err(Error::Removals)?.is_empty() => Ok(vec![]),
        None => Ok(vec![unreadable()]),
    }
}

/// The leftovers of a removal that cannot be read: one row must not hide the others of a page.
fn unreadable() -> LeftoverItem {
    LeftoverItem { step: "unknown".to_owned(), what: "what its removal left cannot be read" }
}

/// The object that a step removes, for people.
fn what(step: &str) -> &'static str {
    deprovisioning::what_is_left(step).unwrap_or("something that this version does not know")
}
