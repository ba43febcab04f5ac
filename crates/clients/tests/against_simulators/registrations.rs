//! The clients of the availability service, EDP, IAS, LMS and SPC: call by call against servers written by hand, and as whole
//! flows against the simulated systems.

mod avs;
mod calls;
mod crowd;
mod edp;
mod faults;
mod golden;
mod hostile;
mod ias;
mod lms;
mod reach;
mod spc;
mod test_systems;
mod tls;
mod tokens;
mod world;

use crate::support;
