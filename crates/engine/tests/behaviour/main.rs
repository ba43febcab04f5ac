//! What the engine does, seen from outside, in simulated time on the simulated store.
#![allow(clippy::unwrap_used, reason = "a test stops where something is wrong")]

mod abandoning;
mod fairness;
mod keys;
mod outcomes;
mod ownership;
mod requests;
mod script;
mod stopping;
mod waiting;
