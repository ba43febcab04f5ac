//! The words of the business as types; no I/O, no async.

pub mod ids;
pub mod operation;

pub use ids::{InstanceId, OperationId, RuntimeId};
