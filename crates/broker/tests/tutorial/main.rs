//! The tutorial "add a step" (`docs/tutorials/add-a-step.md`): its code, compiled, run on an engine over SQLite against a
//! service on a socket, and compared with the page.
//!
//! What a reader would get wrong: these files are laid out and import as in `crates/broker/src` and `crates/clients/src`, so
//! that the steps and the client can be copied there as they are. What stands around them, `Details`, `Env` and the two
//! plans, is the broker's cut down to what the steps touch.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(unreachable_pub, reason = "these files are written for crates in which this is public")]

mod details;
mod greetings;
mod operations;
mod page;
#[path = "../deprovisioning/rows.rs"]
mod rows;
mod service;
mod trying;

// As the crates have them at their roots.
use broker::Order;
use clients::{Component, Error, Gate, Http, Kind};
use details::Details;
