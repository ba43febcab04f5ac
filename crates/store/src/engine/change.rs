//! Changes to other rows that belong to a step's result, applied inside the same fenced commit.

use std::fmt;

use ::engine::storage::{Change, NewOperation, OperationId};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _,
};
use serde_json::{Value, json};

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
        applied: AppliedChange<'a>,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// The input of an operation that continues another one, where that is not the input of the other one any more.
    fn continued_input<'a>(
        &'a self,
        _connection: Connection<'a>,
        _new: &'a NewOperation,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Error>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// One change, and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct AppliedChange<'a> {
    /// The operation whose step made it.
    pub operation: OperationId,
    /// The body of the change.
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
            let applied = AppliedChange { operation, body: &change.body };
            handler.apply(connection.lend(), applied).await?;
        }
        Ok(())
    }

    /// The input of an operation that continues another one, where it is another one now.
    pub(super) async fn continued_input(
        &self,
        mut connection: Connection<'_>,
        new: &NewOperation,
    ) -> Result<Option<Vec<u8>>, Error> {
        for handler in self.handlers.values() {
            let input = handler.continued_input(connection.lend(), new).await?;
            if input.is_some() {
                return Ok(input);
            }
        }
        Ok(None)
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

/// Reads a change strictly. The error names only the wrong field, because its value may be a secret.
pub(crate) fn read_change<T: DeserializeOwned>(what: &str, body: &Value) -> Result<T, Error> {
    let refused = |why: &str| Error::Refused(format!("{what} has {why}"));
    let fields = body.as_object().ok_or_else(|| refused("no fields"))?;
    T::deserialize(body).map_err(|_| {
        let wrong =
            fields.iter().find(|&(name, value)| T::deserialize(json!({ name: value })).is_err());
        let name = wrong.map(|(name, _)| name.as_str()).unwrap_or_default();
        refused(&format!("an unknown or invalid field \"{name}\""))
    })
}

/// A document in a change. Its JSON form is the value that is stored as text, or a string with the base64 of the bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Vec<u8>);

impl Document {
    /// The document of a value.
    pub fn new(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_value(value).and_then(|value| serde_json::to_vec(&value)).map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Documents carry secrets, so they are not printed.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Document")
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_slice::<Value>(&self.0) {
            Ok(value) if !value.is_string() => value.serialize(serializer),
            _ => serializer.serialize_str(&STANDARD.encode(&self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match Value::deserialize(deserializer)? {
            Value::String(text) => STANDARD.decode(text).ok(),
            other => serde_json::to_vec(&other).ok(),
        };
        bytes.map(Self).ok_or_else(|| D::Error::custom("invalid document"))
    }
}

/// A text that both databases can store, for `deserialize_with`.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    if text.as_ref().is_some_and(|text| text.contains('\0')) {
        return Err(D::Error::custom("a text with a NUL"));
    }
    Ok(text)
}
