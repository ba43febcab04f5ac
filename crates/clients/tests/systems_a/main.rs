//! The conformance list (C1 to C11) of the clients of the availability service, EDP, IAS, LMS and SPC, over
//! real sockets: call by call against servers written by hand, and as whole flows against the simulated systems.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod avs;
mod calls;
mod crowd;
mod edp;
mod faults;
mod golden;
mod hostile;
mod ias;
mod lms;
mod place;
mod reach;
mod spc;
#[path = "../conformance/support.rs"]
#[allow(dead_code, reason = "written for the conformance tests, which use all of it")]
mod support;
mod tls;
mod tokens;
mod world;
