//! Both services and `kcp up` in one process, as their clients see them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod broker;
mod full_disk;
mod known_clients;
#[path = "../support/platform.rs"]
mod platform;
mod provisioner;
mod provisioner_client;
#[path = "../support/mod.rs"]
mod support;
mod up;
