//! Background chores.

pub mod abandoned_intents;
pub mod failed_runtimes;
pub mod garden_features;
pub mod shoot_signals;
