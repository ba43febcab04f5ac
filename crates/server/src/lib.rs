//! Settings, wiring, telemetry, shutdown.

mod access;
mod auditing;
pub mod broker;
mod chores;
mod counting;
pub mod gates;
pub mod import;
pub mod keys;
pub mod metrics;
pub mod patience;
pub mod plans;
pub mod provisioner;
mod readiness;
mod service_context;
mod serving;
pub mod settings;
pub mod shutdown;
mod sign_in;
mod speed;
pub mod systems;
pub mod telemetry;
#[cfg(feature = "landscape")]
pub mod up;

pub use settings::Settings;
pub use speed::Speed;
