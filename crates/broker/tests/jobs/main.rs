//! The jobs that keep everything clean: each against the landscape, on both databases, when things fail, when it is killed in the middle,
//! and when two start at once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod answers;
mod archiving;
mod auditing;
mod bindings;
mod continuing;
mod crash;
mod crashing;
mod details;
mod drifting;
mod ended;
mod environment;
mod environments;
mod expiring;
mod looking;
mod pages;
mod provisioner;
mod running;
mod shoots;
mod subaccounts;
mod table;
mod trial;
mod world;
