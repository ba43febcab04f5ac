//! Settings, wiring, telemetry, shutdown.

pub mod bench;
mod demonstration;
pub mod metrics;
mod operations;
pub mod plans;
pub mod provisioner;
mod readiness;
mod serving;
pub mod settings;
pub mod shutdown;
pub mod systems;
pub mod telemetry;
pub mod up;

pub use settings::Settings;
