//! Durable staged operations: a plan is stages, a stage is steps, a step is safe to run again.
//!
//! This crate knows nothing of Kyma and nothing of SQL. A finished stage never runs again; an
//! unfinished one starts over at its first step whenever its memory is gone.

pub mod planted;
pub mod position;
pub mod storage;

pub use planted::Planted;
pub use position::{Position, State, StepClock};
pub use storage::{OperationId, ReplicaId, Storage, StorageError};
