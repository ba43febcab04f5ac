//! The simulated Reconciler, CIS, Azure and EC2, spoken to over real sockets: what they refuse, keep and let happen.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod aws;
mod azure;
mod cis;
mod everywhere;
mod reconciler;
#[expect(dead_code, reason = "shared with the tests of the landscape")]
#[path = "../landscape/world.rs"]
mod world;
