//! The provisioner's API without a socket: what arrives, what leaves, and which status it has.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod audit;
mod broker;
mod changes;
mod clients;
mod coercion;
mod documented;
mod explorer;
mod failures;
mod limits;
mod matrix;
mod round_trip;
mod schema;
mod secrets;
mod service;
#[path = "../support/mod.rs"]
mod support;
