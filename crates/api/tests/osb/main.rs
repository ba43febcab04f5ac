//! The Open Service Broker API without a socket: what arrives, what leaves, and which status it has.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod answers;
mod audit_cost;
mod audited;
mod catalog;
mod conformance;
mod document;
mod errors;
mod generated;
mod real;
mod service;
#[path = "../support/mod.rs"]
mod support;
mod updating;
