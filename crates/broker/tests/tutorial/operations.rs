//! The broker's operations, cut down to what the tutorial's steps touch.

pub mod deprovisioning;
pub mod env;
pub(crate) mod prelude;
pub mod provisioning;
pub(crate) mod shared;
