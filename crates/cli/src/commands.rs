//! One file per command.

pub(crate) mod bench;
pub(crate) mod bindings;
pub(crate) mod broker;
pub(crate) mod check;
pub(crate) mod deprovision;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod kubeconfig;
pub(crate) mod landscape;
pub(crate) mod leftovers;
pub(crate) mod operations;
pub(crate) mod plan;
pub(crate) mod provision;
pub(crate) mod provisioner;
pub(crate) mod runtimes;
pub(crate) mod up;
mod which;
