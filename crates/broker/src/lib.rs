//! The environment broker: what the Open Service Broker API means.

pub mod accounts;
pub mod answers;
pub mod bindings;
pub mod catalog;
pub mod chores;
pub mod creations;
pub mod details;
pub mod following;
pub mod import;
pub mod instances;
pub mod jobs;
mod kubernetes_version;
pub mod operations;
pub mod orchestrations;
pub mod order;
pub mod overrides;
pub mod runtimes;

pub use details::Details;
pub use order::{Context, ContextChange, ContextRevisions, Order};
