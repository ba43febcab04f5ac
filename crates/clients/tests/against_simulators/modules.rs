//! The Lifecycle Manager's and the BTP operator's objects in the simulated clusters, with every fault.

mod kubeconfigs;
mod kymas;
mod manager;
mod reach;
mod services;
mod templates;
mod world;

use crate::faults;
