//! What the steps have learnt about an instance: the broker's, and one field more.

use serde::{Deserialize, Serialize};

/// What is known about an instance. Every field is written by one family of steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Everything that was there before.
    #[serde(flatten)]
    pub others: broker::Details,
    /// How the runtime was greeted.
    pub hello_world: Option<String>,
}
