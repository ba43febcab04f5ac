//! Shared basics: the clock, failures, callers of outside systems, and links that need no TLS.

#![warn(missing_docs)]

pub mod caller;
pub mod clock;
pub mod failure;
pub mod plaintext;

pub use caller::{Caller, Key};
pub use clock::Clock;
pub use failure::Failure;
pub use plaintext::PlaintextHosts;
