//! Field ownership, and server-side apply, which is built on it.
//!
//! Ownership is kept for leaves: scalars, whole lists and empty objects. Lists are atomic: the manager that
//! applies one owns all of it. There are two exceptions. `metadata.finalizers` is a set whose members are
//! owned one by one, because nobody would survive sharing it otherwise. And lists for which a kind has a key
//! are maps: their items are found by the key, and what is in an item is owned leaf by leaf.

mod fields;
mod managers;
mod server_side;
mod typed;

pub(crate) use fields::{Fields, leaves};
pub(crate) use managers::{Entry, Manager, track};
pub(crate) use server_side::{Conflict, apply};
pub(crate) use typed::undeclared;
