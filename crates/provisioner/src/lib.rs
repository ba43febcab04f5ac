//! The runtime provisioner: Shoots from requests.

pub mod checking;
pub mod chores;
pub mod configuration;
pub mod document;
pub mod error;
mod installing;
pub mod limits;
pub mod operations;
pub mod requests;
pub mod runtimes;
pub mod shoots;
pub mod status;

pub use error::Error;
pub use runtimes::{Caller, Parts, Provisioner};
