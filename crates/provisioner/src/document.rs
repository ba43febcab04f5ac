//! The stored document of a runtime beside its row: sealed, because overrides may hold secrets.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::configuration::{Configuration, Kyma};

/// The stored document of a runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The configuration of the last request.
    pub configuration: Configuration,
    /// The last upgrade of Kyma, for taking it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
}

/// An upgrade of Kyma.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upgrade {
    /// The operation.
    pub operation: Uuid,
    /// The previous configuration.
    pub before: Kyma,
}

impl Document {
    /// The document of a new runtime.
    pub fn new(configuration: Configuration) -> Self {
        Self { configuration, upgrade: None }
    }

    /// As it is stored.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a document has only keys that are texts")
    }

    /// As it was stored.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}
