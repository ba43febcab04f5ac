//! Who owns which field, and server-side apply, which is built on that.
//!
//! Ownership is kept for leaves: scalars, whole lists and empty objects. Lists are atomic: the manager that
//! applies one owns all of it. The one exception is `metadata.finalizers`, a set whose members are
//! owned one by one, because nobody would survive sharing it otherwise.

mod fields;
mod managers;
mod server_side;

pub(crate) use fields::{Fields, leaves};
pub(crate) use managers::{Entry, Manager, track};
pub(crate) use server_side::{Conflict, apply};
