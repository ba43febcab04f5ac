//! What runs beside requests and operations.

pub mod abandoned_intents;
pub mod failed_runtimes;
pub mod shoot_signals;
