//! The protocol between a replica and the outside world: one JSON line each way.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One call of one run of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The idempotency key.
    pub key: String,
    /// The operation that runs.
    pub operation: Uuid,
    /// The operation it continues, or itself.
    pub root: Uuid,
    /// The step that runs.
    pub step: String,
    /// Which run of the operation this is.
    pub run: i64,
    /// The epoch under which the operation is held.
    pub epoch: i64,
    /// The incarnation that calls.
    pub replica: Uuid,
    /// The process that calls.
    pub process: String,
    /// When the call left its step, by the machine's true clock. Only the checker looks at it.
    pub begun_at: Timestamp,
    /// The request.
    pub act: Act,
    /// The object of the request.
    pub thing: String,
}

/// The request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// Is the thing there?
    Look,
    /// Make the thing.
    Make,
    /// Fail this many times, then succeed.
    Try {
        /// How many times.
        failures: u32,
    },
    /// May everybody stop waiting?
    Watch,
}

/// The reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// Whether the thing is there, or the waiting over.
    There(bool),
    /// It is made, now or earlier under the same key.
    Made,
    /// A call for this operation came with a newer epoch.
    Stale,
    /// Not this time.
    Trouble,
}
