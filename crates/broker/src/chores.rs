//! Background chores: leftovers of removals, and their retries.

pub mod leftovers;
pub mod maintenance;
pub mod retrigger;
