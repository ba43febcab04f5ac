//! Changing a document by a smaller one: three of Kubernetes' four kinds of patches.
//!
//! The fourth, server-side apply, needs to know who owns what and lives in `apply`.

mod json_patch;
mod merge;
mod strategic;

pub(crate) use json_patch::json_patch;
pub(crate) use merge::merge;
pub(crate) use strategic::strategic;
