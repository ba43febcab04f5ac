//! Gardener: Shoots, the kubeconfigs to them, and the pool of hyperscaler accounts in the same project.

mod admin;
mod pool;
mod problems;
mod shoot;
mod shoots;
mod watch;

use std::sync::{Arc, OnceLock};

use self::watch::ShootWatch;
use crate::{
    error::Error,
    kubernetes::{Cluster, Objects, Resource},
};

pub use self::{
    admin::AdminKubeconfig,
    pool::{Binding, BindingKind, Pool, Released, Wanted},
    problems::{Code, Problem},
    shoot::{
        Dns, Hibernation, Kubernetes, LastError, LastOperation, Provider, Shoot, ShootSpec,
        ShootStatus,
    },
    shoots::Deletion,
    watch::{Signal, Signals},
};

/// Marks a Shoot as the one of a runtime.
pub const RUNTIME_ANNOTATION: &str = "kcp.provisioner.kyma-project.io/runtime-id";
/// Without this annotation Gardener does not delete.
pub const CONFIRMATION_ANNOTATION: &str = "confirmation.gardener.cloud/deletion";

/// Where Shoots stand.
pub const SHOOTS: Resource =
    Resource { group: "core.gardener.cloud", version: "v1beta1", kind: "Shoot", plural: "shoots" };

/// Where seeds stand.
const SEEDS: Resource =
    Resource { group: "core.gardener.cloud", version: "v1beta1", kind: "Seed", plural: "seeds" };

/// One project of a garden.
#[derive(Debug, Clone)]
pub struct Gardener {
    cluster: Cluster,
    namespace: String,
    shoots: Objects<Shoot>,
    /// Under which name our fields are ours.
    owner: String,
    watch: Arc<OnceLock<ShootWatch>>,
}

impl Gardener {
    /// The project `project` of the garden behind `cluster`; `owner` is the name under which Gardener
    /// remembers which fields are ours.
    pub fn new(cluster: Cluster, project: &str, owner: &str) -> Self {
        let namespace = format!("garden-{project}");
        let shoots = cluster.objects(SHOOTS, Some(&namespace));
        Self { cluster, namespace, shoots, owner: owner.into(), watch: Arc::default() }
    }

    /// The namespace of the project.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The pool of accounts, kept in bindings of one kind.
    pub fn pool(&self, kind: BindingKind) -> Pool {
        Pool::new(&self.cluster, &self.namespace, kind)
    }

    /// A cluster that runs control planes, if there is one of this name.
    pub async fn seed(&self, name: &str) -> Result<Option<serde_json::Value>, Error> {
        self.cluster.objects(SEEDS, None).find(name).await
    }

    /// Listens to what happens to the Shoots of the project. One watch serves everyone; it begins with
    /// the first listener and ends with the last clone of this client.
    pub fn signals(&self) -> Signals {
        self.watch.get_or_init(|| ShootWatch::start(&self.cluster, &self.namespace)).signals()
    }
}
