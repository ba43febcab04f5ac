//! What is looked after when nobody orders anything: what removals left over, and trying them again.

pub mod leftovers;
pub mod maintenance;
pub mod retrigger;
