//! The runtime provisioner: Shoots from requests.

pub mod configuration;
pub mod error;
pub mod requests;
pub mod runtimes;
pub mod status;

pub use error::Error;
pub use runtimes::{Caller, Provisioner};
