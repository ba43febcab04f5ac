//! One file per command.

pub(crate) mod activity;
pub(crate) mod bench;
pub(crate) mod bindings;
pub(crate) mod broker;
pub(crate) mod catalog;
pub(crate) mod check;
pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod deprovision;
mod dry_run;
pub(crate) mod events;
#[cfg(feature = "landscape")]
mod garden;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod kubeconfig;
pub(crate) mod landscape;
pub(crate) mod leftovers;
pub(crate) mod login;
mod names;
pub(crate) mod operations;
pub(crate) mod orchestrations;
mod parameters;
pub(crate) mod provision;
pub(crate) mod provisioner;
pub(crate) mod reconciliations;
pub(crate) mod runtimes;
pub(crate) mod status;
pub(crate) mod steps;
pub(crate) mod taskrun;
pub(crate) mod token;
pub(crate) mod tour;
#[cfg(feature = "landscape")]
pub(crate) mod up;
pub(crate) mod update;
pub(crate) mod upgrade;
mod watching;
mod which;
