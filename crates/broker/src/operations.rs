//! Operations: the plans that change things, and what operators may see and do about them.

pub mod creator;
pub mod deprovisioning;
pub mod env;
pub mod limits;
pub mod orchestration;
mod prelude;
pub mod provisioning;
pub(crate) mod shared;
pub mod systems;
pub mod update;
pub mod upgrade_cluster;
pub mod upgrade_kyma;
pub mod view;

pub use env::{Env, StepSettings};
pub use limits::ProvisioningLimits;
pub use provisioning::{Input, Memory};
pub use systems::{System, Systems};
