//! The conformance list (S1 to S5) of the simulated availability service, EDP, IAS, LMS and SPC: their bytes, what
//! they refuse, what they keep, and every kind of trouble. Over real sockets, without the product's own clients.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod avs;
mod edp;
mod ias;
mod keeping;
mod lms;
mod orders;
mod ordinary;
mod spc;
mod trouble;
#[path = "../landscape/world.rs"]
#[allow(dead_code, reason = "written for the landscape's tests, which use all of it")]
mod world;
