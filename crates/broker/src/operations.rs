//! Operations: the plans that change things, and what operators may see and do about them.

pub mod demonstration;
mod prelude;
pub mod view;
