//! Clients against their simulators, over real sockets, with every fault.
//!
//! What a reader would get wrong: the tables are the tests. A new call of a client is one more
//! [`faults::Row`]; whatever is in [`faults::Fault::ALL`] then happens to it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cancelling;
mod crowd;
mod director;
mod expiry;
mod faults;
mod garden;
mod hostile;
mod pool;
mod runtime;
mod shoots;
mod strange;
mod tokens;
mod world;
