//! Reads and writes inside of a runtime cluster.

mod access;
mod access_name;
mod administrators;
mod catalog;
mod connection;
mod installer;
mod operators;
pub(crate) mod secrets;

use crate::kubernetes::{Cluster, Resource};

pub use self::{
    access::Token,
    access_name::access_name,
    connection::{Connection, Report},
    installer::{Install, InstallState, Installation, Module, Override, Scope},
    operators::Groups,
    secrets::Content,
};

pub(crate) const NAMESPACES: Resource = Resource::core("Namespace", "namespaces");
pub(crate) const SECRETS: Resource = Resource::core("Secret", "secrets");
const CLUSTER_ROLES: Resource = rbac("ClusterRole", "clusterroles");
const CLUSTER_ROLE_BINDINGS: Resource = rbac("ClusterRoleBinding", "clusterrolebindings");

/// Marks what is ours among the role bindings.
const MANAGED_BY: (&str, &str) = ("reconciler.kyma-project.io/managed-by", "reconciler");

const fn rbac(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "rbac.authorization.k8s.io", version: "v1", kind, plural }
}

/// A runtime cluster.
#[derive(Debug, Clone)]
pub struct Runtime {
    cluster: Cluster,
    owner: String,
}

impl Runtime {
    /// The runtime behind `cluster`; `owner` is the name under which it remembers which fields are ours.
    pub fn new(cluster: Cluster, owner: &str) -> Self {
        Self { cluster, owner: owner.into() }
    }
}
