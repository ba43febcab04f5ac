//! A runtime in the Director's words.

use secrecy::SecretString;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A runtime that is to be registered.
#[derive(Debug, Clone, Serialize)]
pub struct Registration {
    /// At most 36 characters: lower case, digits, `-`, `.`, and no digit in front.
    pub name: String,
    /// A description for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Any values under keys of letters, digits and `_`.
    pub labels: Map<String, Value>,
    /// How it is doing.
    #[serde(rename = "statusCondition", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
}

/// A runtime that is registered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Runtime {
    /// The Director's id, which is the runtime's id everywhere.
    pub id: String,
    /// Its name.
    pub name: String,
    /// A description for people.
    #[serde(default)]
    pub description: Option<String>,
    /// Its labels; none when the Director says null.
    #[serde(default, deserialize_with = "null_is_none")]
    pub labels: Map<String, Value>,
}

/// Changes of a runtime; everything else stays.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Labels that are added or replaced.
    pub labels: Map<String, Value>,
    /// How it is doing now.
    pub condition: Option<Condition>,
}

/// How a runtime is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Condition {
    /// Nothing is known yet.
    Initial,
    /// It is being made.
    Provisioning,
    /// Its agent has connected.
    Connected,
    /// It could not be made.
    Failed,
}

/// A token for an agent's first connection.
#[derive(Debug, Clone, Deserialize)]
pub struct OneTimeToken {
    /// The token.
    pub token: SecretString,
    /// Where it is accepted.
    #[serde(rename = "connectorURL")]
    pub connector_url: String,
}

fn null_is_none<'de, D>(deserializer: D) -> Result<Map<String, Value>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
