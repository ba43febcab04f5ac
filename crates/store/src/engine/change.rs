//! Changes to other rows that belong to a step's result, applied inside the same fenced commit.

use ::engine::storage::{Change, OperationId};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use serde_json::Value;

use super::EngineStore;
use crate::{Connection, Error};

const INSTANCE: &str = "SELECT instance FROM operations WHERE id = $1";

/// Every statement; it goes by the primary key.
#[cfg(test)]
pub(crate) const TEXTS: &[(&str, &str)] = &[(INSTANCE, "")];

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
    pub body: &'a Value,
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

/// The instance that an operation works on.
pub(crate) async fn instance_of(
    connection: Connection<'_>,
    operation: OperationId,
) -> Result<String, Error> {
    let instance: Option<String> = on!(connection, |connection| {
        sqlx::query_scalar(INSTANCE).bind(operation).fetch_optional(connection).await
    })?;
    instance.ok_or_else(|| Error::Refused(format!("there is no operation {operation}")))
}

/// The bytes of a document in a change: a JSON value is stored as its text, a string is base64 of the bytes.
pub(crate) fn bytes_of(document: &Value) -> Option<Vec<u8>> {
    match document {
        Value::String(text) => STANDARD.decode(text).ok(),
        other => serde_json::to_vec(other).ok(),
    }
}
