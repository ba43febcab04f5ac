//! The clients of the Reconciler, of CIS, Azure and EC2: golden requests, faults, and their simulators over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod aws;
mod azure;
mod cis;
mod cis_pages;
mod faults;
mod many;
mod reconciler;
mod secrets;
#[expect(dead_code, reason = "shared with the conformance tests of the other systems")]
#[path = "../conformance/support.rs"]
mod support;
mod world;
