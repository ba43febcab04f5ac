//! Changes to other rows that belong to a step's result, applied inside the same fenced commit.

use ::engine::storage::{Change, OperationId};
use futures::future::BoxFuture;

use super::EngineStore;
use crate::{Connection, Error};

/// Applies the changes of one topic. A service registers one for each table its steps change.
pub trait ApplyChange: Send + Sync + 'static {
    /// The topic it is for.
    fn topic(&self) -> &'static str;

    /// Applies one change. [`Error::Refused`] takes the operation's whole commit back.
    fn apply<'a>(
        &'a self,
        connection: Connection<'a>,
        applied: Applied<'a>,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// One change, and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    /// The operation whose step made it.
    pub operation: OperationId,
    /// What the handler needs.
    pub body: &'a serde_json::Value,
}

impl EngineStore {
    /// Applies the changes of one commit that passed its fence.
    pub(super) async fn apply(
        &self,
        mut connection: Connection<'_>,
        operation: OperationId,
        changes: &[Change],
    ) -> Result<(), Error> {
        for change in changes {
            let handler = self.handlers.get(change.topic.as_str()).ok_or_else(|| {
                Error::Refused(format!("nothing applies changes of \"{}\"", change.topic))
            })?;
            let applied = Applied { operation, body: &change.body };
            handler.apply(connection.lend(), applied).await?;
        }
        Ok(())
    }
}
