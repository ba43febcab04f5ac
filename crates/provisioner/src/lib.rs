//! The runtime provisioner: Shoots from requests.

mod changes;
pub mod checking;
pub mod chores;
pub mod configuration;
pub mod document;
pub mod error;
pub mod import;
mod installing;
pub mod limits;
pub mod operations;
pub mod requests;
pub mod runtimes;
pub mod shoots;
pub mod status;

pub use changes::PLACES;
pub use error::Error;
pub use runtimes::{Caller, Follow, Parts, Provisioner};
