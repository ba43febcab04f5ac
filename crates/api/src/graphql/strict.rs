//! Makes async-graphql as strict as gqlgen, which clients of the original provisioner know: limits on nesting and size, and a
//! check of every literal and variable before the first field is resolved.
//!
//! What a reader would get wrong: this works on the library's parser and registry types, so the library's version is pinned in
//! `Cargo.toml`. Read these files again before raising it.

pub(super) mod check;
mod literals;
pub(super) mod nesting;
pub(super) mod size;
mod variables;
