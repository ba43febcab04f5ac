//! Gardener: Shoots, the kubeconfigs to them, and the pool of hyperscaler accounts in the same project.

mod admin;
mod belongings;
mod features;
mod pool;
mod problems;
mod returned;
mod shoot;
mod shoots;
mod watch;

use std::sync::{Arc, OnceLock};

use self::{features::FeaturesRead, watch::ShootWatch};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::{Cluster, Objects, Resource, names_no_object},
};

pub use self::{
    admin::AdminKubeconfig,
    belongings::ConfigMapContents,
    features::{Features, Field, SUPPORTED},
    pool::{AccountNeed, Binding, BindingKind, Pool, ReleaseResult},
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
/// Names the global account that a Shoot belongs to.
pub const ACCOUNT_LABEL: &str = "account";
/// Names the subaccount that a Shoot belongs to.
pub const SUBACCOUNT_LABEL: &str = "subaccount";
/// Makes Gardener do something once: `reconcile`, or `retry` after it has given up.
pub const OPERATION_ANNOTATION: &str = "gardener.cloud/operation";
/// Without this annotation Gardener does not delete.
pub const CONFIRMATION_ANNOTATION: &str = "confirmation.gardener.cloud/deletion";

/// Where Shoots stand.
pub const SHOOTS: Resource =
    Resource { group: "core.gardener.cloud", version: "v1beta1", kind: "Shoot", plural: "shoots" };

/// The prefix of a project's namespace.
const PREFIX: &str = "garden-";
/// Where projects stand.
const PROJECTS: Resource = Resource {
    group: "core.gardener.cloud",
    version: "v1beta1",
    kind: "Project",
    plural: "projects",
};
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
    features: Arc<FeaturesRead>,
}

impl Gardener {
    /// The project `project` of the garden behind `cluster`; `owner` is the name under which Gardener
    /// remembers which fields are ours.
    pub fn new(cluster: Cluster, project: &str, owner: &str) -> Self {
        let namespace = format!("{PREFIX}{project}");
        let shoots = cluster.objects(SHOOTS, Some(&namespace));
        let (owner, watch, features) = (owner.into(), Arc::default(), Arc::default());
        Self { cluster, namespace, shoots, owner, watch, features }
    }

    /// The garden itself.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The namespace of the project.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Finds out whether it can be reached, knows us, and has the project: [`Kind::NotFound`] if it does not.
    pub async fn check(&self) -> Result<(), Error> {
        self.shoots.some(1).await.map_err(|error| {
            // Operations retry it as an outage; here, a cluster without Shoots is not a garden.
            let kind = if names_no_object(&error) { Kind::NotFound } else { error.kind };
            Error { kind, ..error }
        })?;
        let project = self.namespace.strip_prefix(PREFIX).unwrap_or_default();
        match self.cluster.objects::<serde_json::Value>(PROJECTS, None).find(project).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => {
                let doing = "looking for the project";
                let error = Error::new(Component::GARDENER, Kind::NotFound, doing);
                Err(error.saying(format!("there is no project {project}")))
            }
            // Who may list its Shoots is in the project, whether or not they may look at it.
            Err(error) if error.kind == Kind::Unauthorized => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The pool of accounts, kept in bindings of one kind.
    pub fn pool(&self, kind: BindingKind) -> Pool {
        Pool::new(&self.cluster, &self.namespace, kind)
    }

    /// As which kind of binding there is an account of this name; the older kind where there are both.
    pub async fn account(&self, name: &str) -> Result<Option<BindingKind>, Error> {
        let has = async |kind: BindingKind| {
            let bindings = self.cluster.objects::<Binding>(kind.resource(), Some(&self.namespace));
            bindings.find(name).await.map(|found| found.is_some())
        };
        let older = has(BindingKind::Secret).await;
        match &older {
            Ok(true) => return Ok(Some(BindingKind::Secret)),
            Ok(false) => {}
            // A garden may have the newer kind alone.
            Err(error) if names_no_object(error) => {}
            Err(_) => return older.map(|_| None),
        }
        let newer = self.features().await?.has(Field::CredentialsBinding)
            && has(BindingKind::Credentials).await?;
        if newer { Ok(Some(BindingKind::Credentials)) } else { older.map(|_| None) }
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
