//! The whole system in one process, tested from outside.

pub mod torture;
