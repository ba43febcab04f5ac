//! Everything a cluster remembers, in memory and on disk.
//!
//! A write is decided under the cluster's lock, appended to the log, then applied, then answered.

mod log;
mod record;
mod state;

pub(crate) use log::Log;
pub use log::LogError;
pub(crate) use record::{Change, Record};
pub use state::History;
pub(crate) use state::{Event, Key, State};
