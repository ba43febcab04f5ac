//! The provisioner against the simulated landscape: real sockets, real databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod faults;
mod gardens;
mod generated;
mod issuers;
mod life;
mod old_clients;
mod owning;
mod providers;
mod repairs;
mod repetition;
mod requests;
mod settings;
mod unstuck;
mod waiting;
mod world;
