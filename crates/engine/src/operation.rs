//! What an operation is made of: input, data, memory, surroundings.

use serde::{Serialize, de::DeserializeOwned};

/// The types that all steps of one operation share.
pub trait Operation: Send + Sync + 'static {
    /// Stored with every row and shown to operators. Never renamed.
    const KIND: &'static str;
    /// The version of `Data`. Raised when an older program could not work with what this one writes;
    /// new optional fields need no new version, because unknown fields survive.
    const VERSION: i32 = 1;
    /// The request. Never changes, and is sealed.
    type Input: Serialize + DeserializeOwned + Send + Sync;
    /// Data of the steps. Saved with every outcome.
    type Data: Serialize + DeserializeOwned + Send + Sync;
    /// Memory that is never saved: it lives while one replica works on one stage.
    type Memory: Default + Send + 'static;
    /// The environment of the steps: clients and settings.
    type Env: Send + Sync + 'static;
}
