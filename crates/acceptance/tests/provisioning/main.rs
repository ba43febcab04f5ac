//! Provisioning by the broker, against the landscape and a provisioner that works.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bindings;
mod client;
mod faults;
mod following;
mod generated;
mod golden;
mod import;
mod keys;
mod legacy;
mod life;
mod lost;
mod orders;
mod outside;
mod proof;
mod service;
mod suspension;
mod table;
mod test_broker;
mod trying;
mod tutorial;
mod unconfirmed;
mod updating;
mod upgrading;
mod view;
