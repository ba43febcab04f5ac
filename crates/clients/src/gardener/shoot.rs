//! The part of a Shoot that we read and write; all other fields go through untouched.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Fields that are not ours.
pub(super) type ForeignFields = Map<String, Value>;

/// A cluster as Gardener is asked for it and reports on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shoot {
    /// Name, labels, annotations, versions.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// The specification.
    #[serde(default)]
    pub spec: ShootSpec,
    /// The status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ShootStatus>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
    /// Gardener's warnings about the last write.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// The specification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShootSpec {
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Its purpose: `production`, `development` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The rules of the infrastructure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloud_profile_name: Option<String>,
    /// The account it is paid from, by the older kind of binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_binding_name: Option<String>,
    /// The account it is paid from, by the newer kind of binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_binding_name: Option<String>,
    /// The cluster that runs its control plane; Gardener chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_name: Option<String>,
    /// Kubernetes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Kubernetes>,
    /// Its name in the DNS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,
    /// Whether it is hibernated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hibernation: Option<Hibernation>,
    /// Machines and networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// Kubernetes itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Kubernetes {
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// A name in the DNS.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Dns {
    /// The domain of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// Whether a cluster sleeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hibernation {
    /// Whether it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// Machines and networks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Provider {
    /// `aws`, `azure`, `gcp`, `openstack`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Groups of machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<Value>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// The status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShootStatus {
    /// Gardener's last operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_operation: Option<LastOperation>,
    /// Its errors.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "super::problems::list"
    )]
    pub last_errors: Vec<LastError>,
    /// Which generation of the request it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Whether it is hibernated.
    #[serde(rename = "hibernated", default, skip_serializing_if = "Option::is_none")]
    pub hibernated: Option<bool>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// Gardener's last operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastOperation {
    /// `Create`, `Reconcile`, `Delete` …
    #[serde(rename = "type", default)]
    pub kind: String,
    /// `Processing`, `Succeeded`, `Error`, `Failed`, `Pending`, `Aborted`.
    #[serde(default)]
    pub state: String,
    /// In percent.
    #[serde(default)]
    pub progress: i32,
    /// Its progress.
    #[serde(default)]
    pub description: String,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

/// What went wrong.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LastError {
    /// For people.
    #[serde(default)]
    pub description: String,
    /// For machines: `ERR_INFRA_QUOTA_EXCEEDED` …
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "super::problems::list"
    )]
    pub codes: Vec<String>,
    /// Other fields.
    #[serde(flatten)]
    pub rest: ForeignFields,
}

impl Shoot {
    /// An empty Shoot called `name`.
    pub fn named(name: &str) -> Self {
        let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
        Self { metadata, ..Self::default() }
    }

    /// Its name; empty before it has one.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// One of its annotations.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// One of its labels.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.as_ref()?.get(key).map(String::as_str)
    }

    /// Whether it is being deleted.
    pub fn is_going(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether it sleeps, or is to; one that is to wake up does not count.
    pub fn is_asleep(&self) -> bool {
        let wanted = self.spec.hibernation.as_ref().and_then(|hibernation| hibernation.enabled);
        let asleep = self.status.as_ref().and_then(|status| status.hibernated);
        wanted.or(asleep).unwrap_or_default()
    }

    /// Gardener's word for trying once more: after it has given up, a `reconcile` would not be enough.
    pub fn next_try(&self) -> &'static str {
        match self.last_operation() {
            Some(last) if last.state == "Failed" => "retry",
            _ => "reconcile",
        }
    }

    /// Gardener's last operation.
    pub fn last_operation(&self) -> Option<&LastOperation> {
        self.status.as_ref()?.last_operation.as_ref()
    }

    /// Whether Gardener has seen the latest request and is done with it.
    pub fn is_settled(&self) -> bool {
        let seen = self.status.as_ref().and_then(|status| status.observed_generation);
        let current = seen >= self.metadata.generation;
        current && self.last_operation().is_some_and(|last| last.state == "Succeeded")
    }
}
