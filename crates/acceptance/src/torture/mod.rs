//! What the process test of the engine and the replicas it starts, kills and restarts have in common.
//!
//! The test itself is in `tests/torture`; nothing in here knows that anything will go wrong.

pub mod outside;
pub mod plans;
pub mod replica;
pub mod wire;
