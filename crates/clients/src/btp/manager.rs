//! The Secret with the operator's credentials, and the id under which the Service Manager knows the cluster.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Btp, NAMESPACE};
use crate::{
    error::{Error, Kind},
    kubernetes::Resource,
    runtime::{Content, SECRETS},
};

/// The owner of the Secret.
pub(super) const OWNER: &str = "kcp-kyma-environment-broker";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const WATCHED_BY: &str = "app.kubernetes.io/watched-by";
const SECRET: &str = "sap-btp-manager";
const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");
const CLUSTER_INFO: &str = "cluster-info";
/// Who puts this label on the Secret keeps it as it is.
const LEFT_ALONE: &str = "kyma-project.io/skip-reconciliation";
const NOTICE: &str = "This Secret is generated. Do not edit it: changes are overwritten.";

/// The operator's credentials for the Service Manager.
#[derive(Debug, Clone)]
pub struct ManagerCredentials {
    /// The client.
    pub client_id: SecretString,
    /// The client's secret.
    pub client_secret: SecretString,
    /// The Service Manager.
    pub service_manager_url: String,
    /// Where its tokens come from.
    pub token_url: String,
    /// The id of the cluster: made once per instance and kept.
    pub cluster_id: String,
}

/// The result of writing the Secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretWrite {
    /// The owner that the Secret named, if it was not us.
    pub foreign_owner: Option<String>,
}

/// How the Secret compares with what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManagerState {
    /// It is not there.
    Missing,
    /// It has other values under these keys.
    Different(Vec<&'static str>),
    /// The same, and a label on it says that it is to stay so.
    LeftAlone,
    /// It is as it should be.
    Same,
}

impl ManagerCredentials {
    fn values(&self) -> [(&'static str, SecretString); 5] {
        [
            ("clientid", self.client_id.clone()),
            ("clientsecret", self.client_secret.clone()),
            ("sm_url", self.service_manager_url.clone().into()),
            ("tokenurl", self.token_url.clone().into()),
            ("cluster_id", self.cluster_id.clone().into()),
        ]
    }
}

impl Btp {
    /// Writes the Secret, whatever it held before. Another owner is reported and changes nothing.
    pub async fn write_manager(
        &self,
        credentials: &ManagerCredentials,
    ) -> Result<SecretWrite, Error> {
        let secrets = self.cluster.objects::<Secret>(SECRETS, Some(NAMESPACE));
        let labels = secrets.find(SECRET).await?.and_then(|found| found.metadata.labels);
        let owner = labels.unwrap_or_default().remove(MANAGED_BY);
        let foreign_owner = owner.filter(|owner| owner != OWNER);
        if let Some(owner) = &foreign_owner {
            tracing::warn!(
                owner,
                "the Secret {NAMESPACE}/{SECRET} has another owner and is overwritten"
            );
        }
        let data = credentials.values().map(|(key, value)| (key.to_owned(), value));
        let content = Content {
            data: data.into(),
            labels: [MANAGED_BY, WATCHED_BY].map(|key| (key.to_owned(), OWNER.to_owned())).into(),
            annotations: BTreeMap::from([("Warning".to_owned(), NOTICE.to_owned())]),
        };
        self.runtime.write_secret(NAMESPACE, SECRET, &content).await?;
        Ok(SecretWrite { foreign_owner })
    }

    /// Compares the Secret with what it should be.
    pub async fn manager(&self, wanted: &ManagerCredentials) -> Result<ManagerState, Error> {
        let secrets = self.cluster.objects::<Secret>(SECRETS, Some(NAMESPACE));
        let Some(found) = secrets.find(SECRET).await? else { return Ok(ManagerState::Missing) };
        let data = found.data.unwrap_or_default();
        let differs = |(key, value): &(&'static str, SecretString)| {
            let bytes = data.get(*key).map(|bytes| bytes.0.as_slice());
            bytes != Some(value.expose_secret().as_bytes())
        };
        let different: Vec<_> =
            wanted.values().iter().filter(|pair| differs(pair)).map(|(key, _)| *key).collect();
        let labels = found.metadata.labels.unwrap_or_default();
        Ok(match labels.get(LEFT_ALONE).map(String::as_str) {
            _ if different.is_empty() => ManagerState::Same,
            Some("true") => ManagerState::LeftAlone,
            _ => ManagerState::Different(different),
        })
    }

    /// The id of the cluster that the runtime's `ConfigMap` has.
    pub async fn stored_cluster_id(&self) -> Result<Option<String>, Error> {
        let maps = self.cluster.objects::<ConfigMap>(CONFIG_MAPS, Some(NAMESPACE));
        Ok(maps.find(CLUSTER_INFO).await?.and_then(id))
    }

    /// The id of the cluster: the one that stands in the runtime, or `wanted`, which then does.
    pub async fn cluster_id(&self, wanted: &str) -> Result<String, Error> {
        if let Some(found) = self.stored_cluster_id().await? {
            return Ok(found);
        }
        let maps = self.cluster.objects::<ConfigMap>(CONFIG_MAPS, Some(NAMESPACE));
        let object = json!({"metadata": {"name": CLUSTER_INFO}, "data": {"id": wanted}});
        let made = match maps.create(CLUSTER_INFO, &object).await {
            Err(error) if error.kind == Kind::NotFound => {
                self.runtime.ensure_namespace(NAMESPACE).await?;
                maps.create(CLUSTER_INFO, &object).await
            }
            made => made,
        };
        match made {
            // There without an id, or created meanwhile.
            Err(error) if error.kind == Kind::AlreadyExists => {
                let there = maps.get(CLUSTER_INFO).await?;
                if let Some(found) = id(there) {
                    return Ok(found);
                }
                maps.merge(CLUSTER_INFO, &json!({"data": {"id": wanted}})).await?;
            }
            made => drop(made?),
        }
        Ok(wanted.to_owned())
    }
}

/// The id in the `ConfigMap`; an empty one is none.
fn id(map: ConfigMap) -> Option<String> {
    map.data.unwrap_or_default().remove("id").filter(|id| !id.is_empty())
}
