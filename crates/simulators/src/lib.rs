//! Every outside system, speaking its real protocol, with switches for trouble.
//!
//! Shares no type with `clients`: each side is written from the other system's own documents, so
//! that a wrong field name shows up instead of cancelling out.

pub mod avs;
pub mod aws;
pub mod azure;
pub mod cis;
pub mod clusters;
mod control_plane;
pub mod director;
pub mod edp;
pub mod garden;
pub mod ias;
pub mod issuer;
pub mod landscape;
pub mod ledger;
pub mod lifecycle_manager;
pub mod lms;
mod orders;
pub mod pace;
mod presented;
pub mod reconciler;
pub mod runtime;
pub mod spc;
pub mod store;
pub mod system;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trouble;
