//! The runtime provisioner: Shoots from requests.

pub mod checking;
pub mod configuration;
pub mod error;
pub mod requests;
pub mod runtimes;
pub mod shoots;
pub mod status;

pub use error::Error;
pub use runtimes::{Caller, Provisioner};
