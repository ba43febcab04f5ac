//! Run a plan to its end; crash it anywhere; compare. Later plans get all of it in one line.

mod simulated;

pub use simulated::{Faults, SimulatedStore};
