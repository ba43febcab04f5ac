//! The catalog: what is published, what is accepted, what it means.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod document;
mod loading;
mod orders;
mod places;
mod properties;
mod refusals;
mod resolving;
mod schemas;
mod services;
mod support;
mod updates;
