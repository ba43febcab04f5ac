//! Removing instances: every step against its system over HTTP, the plan under every disturbance, what is left over
//! and tried again, and instances that were only half made.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod creating;
mod event_hubs;
mod faults;
mod foreign;
mod furnishing;
mod generated;
mod holes;
mod landscape;
mod leftovers;
mod legacy;
mod partial_instances;
mod plan;
mod provisioner;
mod rows;
mod table;
mod world;
