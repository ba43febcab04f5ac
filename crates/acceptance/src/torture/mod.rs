//! Shared by the process test of the engine and the replicas that it starts, kills and restarts.
//!
//! The test itself is in `tests/torture`; nothing in here knows that anything will go wrong.

pub mod outside;
pub mod plans;
pub mod replica;
pub mod wire;
