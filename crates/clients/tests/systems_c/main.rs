//! The Lifecycle Manager's and the BTP operator's objects, in the simulated clusters, with every fault.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../against_simulators/faults.rs"]
mod faults;
mod kubeconfigs;
mod kymas;
mod manager;
mod reach;
mod secrets;
mod services;
mod templates;
mod world;
