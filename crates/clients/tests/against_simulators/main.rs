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
mod infrastructure;
mod modules;
mod pool;
mod registrations;
mod runtime;
mod shoots;
mod strange;
#[path = "../conformance/support.rs"]
#[expect(dead_code, reason = "written for the conformance tests, which use all of it")]
mod support;
mod tokens;
mod world;
