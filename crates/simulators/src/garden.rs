//! The simulated Gardener: its kinds, the rules by which it refuses a Shoot, and its controller.
//!
//! What a reader would get wrong: the controller keeps nothing. How far a Shoot has come stands in the
//! Shoot itself, so a controller that is killed and started again carries on where the Shoot is. It is a
//! client of any Kubernetes API that has the kinds; the rules of admission and `adminkubeconfig` hold
//! only where [`catalog`] was given to the server.

mod access;
mod admission;
mod cleaning;
mod conditions;
mod controller;
mod flow;
mod furnish;
mod info;
mod kinds;
mod nodes;
mod profiles;
mod quantity;
mod scenario;
mod schema;
mod settings;
mod shoot;
pub(crate) mod users;
mod version;

pub(crate) use cleaning::Cleaning;
pub use controller::Controller;
pub(crate) use controller::next_move;
pub use furnish::{Error, furnish};
pub(crate) use info::{NAME as INFO, version_of as version_of_runtime};
pub use kinds::definitions;
pub(crate) use scenario::WORDS;
pub use settings::{Durations, PoolSettings, Settings};
pub use version::{UnknownVersion, Version};

/// The cluster in which the kinds and rules hold.
pub const CLUSTER: &str = "garden";
/// The Kubernetes that a garden runs on; `/version` names the Gardener behind it.
const KUBERNETES: &str = "1.32.0";
/// Without this annotation set to `true`, a Shoot is not deleted.
pub const CONFIRMATION: &str = "confirmation.gardener.cloud/deletion";
/// Asks for another go: `retry`, `reconcile` or `maintain`.
pub const OPERATION: &str = "gardener.cloud/operation";
/// What the gardenlet deploys anew, as a list.
const TASKS: &str = "shoot.gardener.cloud/tasks";
/// What shall happen to a Shoot other than the usual.
pub const SCENARIO: &str = "landscape.kcp.dev/scenario";
/// The `ConfigMap` of the project whose key `shoots` is the scenario of all Shoots to come.
pub const SCENARIO_DEFAULTS: &str = "landscape-scenario";

/// Where the clusters of Shoots live. Every call may come again and must then change nothing.
pub trait Runtimes: Send + Sync + 'static {
    /// Makes a cluster, unless it is there.
    fn create(&self, cluster: &str) -> Result<(), String>;
    /// Removes a cluster, if it is there.
    fn remove(&self, cluster: &str) -> Result<(), String>;
    /// Lets a cluster answer, or not while it is hibernated.
    fn set_reachable(&self, cluster: &str, reachable: bool);
    /// Lets a cluster have these nodes and no others.
    fn set_nodes(&self, cluster: &str, nodes: &[serde_json::Value]) -> Result<(), String> {
        let _ = (cluster, nodes);
        Ok(())
    }
    /// Tells a cluster about its Shoot, as the data of the `ConfigMap` `shoot-info`: its version of Kubernetes among
    /// others.
    fn set_info(&self, cluster: &str, info: &serde_json::Value) -> Result<(), String> {
        let _ = (cluster, info);
        Ok(())
    }
    /// A kubeconfig that does not expire, for Shoots that ask for a static token.
    fn kubeconfig(&self, cluster: &str) -> Option<String> {
        let _ = cluster;
        None
    }
}

/// The garden's kinds, admission rules and subresources added to a catalog; they hold in the cluster
/// named `garden`.
pub fn catalog(catalog: cluster::Catalog, settings: &Settings) -> cluster::Catalog {
    let place = || cluster::Where::Only(CLUSTER.to_owned());
    let all = kinds::all(settings.version).into_iter();
    let catalog = all.fold(catalog, |catalog, kind| catalog.kind(place(), kind));
    let version = format!("{KUBERNETES}+gardener.{}", settings.version.release());
    let catalog = catalog.version(place(), move |_, _| Some(version.clone()));
    let catalog = admission::add(catalog, &place(), settings);
    access::add(catalog, &place(), settings)
}
