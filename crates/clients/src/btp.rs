//! The BTP operator in a runtime: its credentials, and the objects that it keeps for customers.
//!
//! What a reader would get wrong: objects go when the operator has let go of them, not when they are deleted. Where
//! the operator is gone before them, their finalizers have to be taken away.

mod manager;
mod services;

pub use self::{
    manager::{ManagerCredentials, ManagerState, SecretWrite},
    services::RemainingServices,
};
use crate::{error::Component, kubernetes::Cluster, runtime::Runtime};

/// Its name in errors and metrics: that of the runtime in which it works.
pub const COMPONENT: Component = Component::RUNTIME;

/// The namespace of everything that is ours.
const NAMESPACE: &str = "kyma-system";

/// The BTP operator's side of a runtime.
#[derive(Debug, Clone)]
pub struct Btp {
    cluster: Cluster,
    runtime: Runtime,
}

impl Btp {
    /// In the runtime behind `cluster`.
    pub fn new(cluster: Cluster) -> Self {
        let runtime = Runtime::new(cluster.clone(), manager::OWNER);
        Self { cluster, runtime }
    }
}
