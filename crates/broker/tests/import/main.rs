//! Instances of the original broker, taken over into both of our databases.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fleet;
mod listing;
mod original;
mod recorded;
mod refusals;
mod repeating;
mod telling;
mod world;
