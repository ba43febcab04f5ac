//! The words of the business as types; no I/O, no async.

pub mod ids;
pub mod orchestration;
pub mod parameters;
pub mod plan;

pub use ids::{InstanceId, OperationId, RuntimeId};
