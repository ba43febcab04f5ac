//! The Lifecycle Manager: keeps the modules of a runtime as its Kyma resource in the control plane's cluster says.
//!
//! What a reader would get wrong: it is never called. We write objects into our own cluster, and it acts on them.
//! The spec of a Kyma is written once; from then on it belongs to its editors there.

mod kubeconfigs;
mod kyma;
mod template;

use serde_json::Value;

pub use self::{
    kyma::{ApplyResult, Kyma, Marks},
    template::{Module, Policy, Template, TemplateSource},
};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::{Cluster, Objects, Resource},
};

/// Its name in errors and metrics: that of the cluster in which it works.
pub const COMPONENT: Component = Component::CONTROL_PLANE;

/// Names the instance whose Kyma it is.
pub const INSTANCE_LABEL: &str = "kyma-project.io/instance-id";
/// Names the runtime whose Kyma it is.
pub const RUNTIME_LABEL: &str = "kyma-project.io/runtime-id";
/// Names the Kyma; kubeconfigs are found by it.
pub const KYMA_NAME_LABEL: &str = "operator.kyma-project.io/kyma-name";
/// Says who looks after it.
pub const MANAGED_BY_LABEL: &str = "operator.kyma-project.io/managed-by";
/// The annotation with the domain of the runtime's cluster.
pub const DOMAIN_ANNOTATION: &str = "skr-domain";

/// The versions of the Kyma resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// `v1alpha1`: of the first runtimes that were looked after.
    V1Alpha1,
    /// `v1beta1`.
    V1Beta1,
    /// `v1beta2`: today's.
    #[default]
    V1Beta2,
}

impl Version {
    const ALL: [Self; 3] = [Self::V1Alpha1, Self::V1Beta1, Self::V1Beta2];

    /// As it stands in an `apiVersion`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
        }
    }

    const fn resource(self) -> Resource {
        let version = match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
        };
        Resource { group: "operator.kyma-project.io", version, kind: "Kyma", plural: "kymas" }
    }
}

/// A version that Kyma resources do not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is none of v1alpha1, v1beta1 and v1beta2")]
pub struct UnknownVersion(String);

impl std::str::FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|version| version.as_str() == text).ok_or_else(|| UnknownVersion(text.into()))
    }
}

/// The Lifecycle Manager's side of the control plane's cluster.
#[derive(Debug, Clone)]
pub struct LifecycleManager {
    cluster: Cluster,
    namespace: String,
    version: Version,
}

impl LifecycleManager {
    /// In the control plane's cluster, with templates and kubeconfigs in `namespace`; `version` is the one in which
    /// Kymas are read and deleted.
    pub fn new(cluster: Cluster, namespace: &str, version: Version) -> Self {
        Self { cluster, namespace: namespace.into(), version }
    }

    /// The namespace of templates and kubeconfigs.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Finds out whether the cluster can be reached, knows us, and has the kind.
    pub async fn check(&self) -> Result<(), Error> {
        self.kymas(self.version, &self.namespace).some(1).await.map(drop)
    }

    fn kymas(&self, version: Version, namespace: &str) -> Objects<Value> {
        self.cluster.objects(version.resource(), Some(namespace))
    }

    fn failed(kind: Kind, doing: &str, why: impl Into<String>) -> Error {
        Error::new(COMPONENT, kind, doing).saying(why)
    }
}
