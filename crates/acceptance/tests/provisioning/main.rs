//! Provisioning by the broker, against the landscape and a provisioner that works.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bindings;
mod client;
mod faults;
mod generated;
mod golden;
mod import;
mod keys;
mod life;
mod lost;
mod made;
mod older;
mod orders;
mod outside;
mod proof;
mod seen;
mod service;
mod suspension;
mod table;
mod trying;
mod tutorial;
mod unconfirmed;
mod updating;
mod upgrading;
