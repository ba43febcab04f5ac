//! Objects of a Shoot in the project: a `ConfigMap`, and the newer kind of binding to its account.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::{BindingKind, Gardener, RUNTIME_ANNOTATION};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::{Objects, Resource},
};

const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");
/// The label that names the owner of an object in the project.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kcp-provisioner");

/// What a runtime's `ConfigMap` holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigMapContents {
    /// Annotations; those that are not named stay as they are.
    pub annotations: BTreeMap<String, String>,
    /// All of its data.
    pub data: BTreeMap<String, String>,
}

impl ConfigMapContents {
    fn of(map: &ConfigMap) -> Self {
        let annotations = map.metadata.annotations.clone().unwrap_or_default();
        Self { annotations, data: map.data.clone().unwrap_or_default() }
    }

    /// Whether a write of these contents would change what is there.
    pub fn differs_from(&self, there: &Self) -> bool {
        let noted = |(key, text): (&String, &String)| there.annotations.get(key) == Some(text);
        self.data != there.data || !self.annotations.iter().all(noted)
    }
}

impl Gardener {
    fn config_maps(&self) -> Objects<ConfigMap> {
        self.cluster.objects(CONFIG_MAPS, Some(&self.namespace))
    }

    /// Finds out whether `ConfigMap`s of the project can be read: [`Kind::Unauthorized`] if not.
    pub async fn check_config_maps(&self) -> Result<(), Error> {
        self.config_maps().find("kcp-oidc-check").await.map(drop)
    }

    /// A runtime's `ConfigMap`, if it is there. One that is not the runtime's is a failure.
    pub async fn config_map(
        &self,
        name: &str,
        runtime: &str,
    ) -> Result<Option<ConfigMapContents>, Error> {
        let Some(found) = self.config_maps().find(name).await? else { return Ok(None) };
        owned(&found, name, runtime)?;
        Ok(Some(ConfigMapContents::of(&found)))
    }

    /// Makes a runtime's `ConfigMap`, or brings it to this data. One that is not the runtime's is left alone.
    pub async fn put_config_map(
        &self,
        name: &str,
        runtime: &str,
        data: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let wanted = |_: Option<&ConfigMapContents>| ConfigMapContents {
            data: data.clone(),
            ..ConfigMapContents::default()
        };
        self.edit_config_map(name, runtime, wanted).await.map(drop)
    }

    /// The same with contents that depend on what is there; says what Gardener warned of.
    pub async fn edit_config_map(
        &self,
        name: &str,
        runtime: &str,
        wanted: impl Fn(Option<&ConfigMapContents>) -> ConfigMapContents + Send + Sync,
    ) -> Result<Vec<String>, Error> {
        let maps = self.config_maps();
        let found = match maps.find(name).await? {
            Some(found) => found,
            None => {
                let ConfigMapContents { annotations, data } = wanted(None);
                let labels =
                    BTreeMap::from([(RUNTIME_ANNOTATION, runtime), (MANAGED_BY.0, MANAGED_BY.1)]);
                let metadata = json!({"name": name, "labels": labels, "annotations": annotations});
                let new = json!({"metadata": metadata, "data": data});
                match maps.create_warned(name, &new).await {
                    Err(error) if error.kind == Kind::AlreadyExists => maps.get(name).await?,
                    made => return made.map(|(_, warnings)| warnings),
                }
            }
        };
        owned(&found, name, runtime)?;
        let there = ConfigMapContents::of(&found);
        let wanted = wanted(Some(&there));
        if !wanted.differs_from(&there) {
            return Ok(Vec::new());
        }
        let removed = there.data.keys().filter(|key| !wanted.data.contains_key(*key));
        let mut data: serde_json::Map<String, Value> =
            removed.map(|key| (key.clone(), Value::Null)).collect();
        data.extend(wanted.data.iter().map(|(key, text)| (key.clone(), json!(text))));
        let metadata = json!({
            "resourceVersion": found.metadata.resource_version,
            "annotations": wanted.annotations,
        });
        let patch = json!({"metadata": metadata, "data": data});
        maps.merge_warned(name, &patch).await.map(|(_, warnings)| warnings)
    }

    /// Removes a runtime's `ConfigMap`, if it is there. One that is not the runtime's is left alone.
    pub async fn remove_config_map(&self, name: &str, runtime: &str) -> Result<(), Error> {
        let maps = self.config_maps();
        match maps.find(name).await? {
            Some(found) if is_of(&found, runtime) => {
                maps.delete(name, found.metadata.uid.as_deref()).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Makes sure that there is a `CredentialsBinding` of this name: where there is none, one is made that names the
    /// same Secret and quotas as the `SecretBinding` of the name. It stays when the Shoot goes, as the `SecretBinding` does.
    /// Says what Gardener warned of.
    pub async fn put_credentials_binding(&self, name: &str) -> Result<Vec<String>, Error> {
        let of = |kind: BindingKind| -> Objects<Value> {
            self.cluster.objects(kind.resource(), Some(&self.namespace))
        };
        let newer = of(BindingKind::Credentials);
        if newer.find(name).await?.is_some() {
            return Ok(Vec::new());
        }
        let Some(older) = of(BindingKind::Secret).find(name).await? else {
            let doing = format!("looking for the account {name}");
            let error = Error::new(Component::GARDENER, Kind::NotFound, &doing);
            return Err(error
                .saying("there is neither a CredentialsBinding nor a SecretBinding of this name"));
        };
        let mut labels = older["metadata"]["labels"].clone();
        if !labels.is_object() {
            labels = json!({});
        }
        labels[MANAGED_BY.0] = json!(MANAGED_BY.1);
        let secret = &older["secretRef"];
        let mut wanted = json!({
            "metadata": {"name": name, "labels": labels},
            "provider": older["provider"],
            "credentialsRef": {
                "apiVersion": "v1", "kind": "Secret",
                "name": secret["name"], "namespace": secret["namespace"],
            },
        });
        if older["quotas"].is_array() {
            wanted["quotas"] = older["quotas"].clone();
        }
        match newer.create_warned(name, &wanted).await {
            Err(error) if error.kind == Kind::AlreadyExists => Ok(Vec::new()),
            made => made.map(|(_, warnings)| warnings),
        }
    }
}

/// Fails when a `ConfigMap` is not the runtime's.
fn owned(found: &ConfigMap, name: &str, runtime: &str) -> Result<(), Error> {
    if is_of(found, runtime) {
        return Ok(());
    }
    let doing = format!("writing ConfigMap {name}");
    let error = Error::new(Component::GARDENER, Kind::AlreadyExists, &doing);
    Err(error.saying("it is not the one of this runtime"))
}

fn is_of(found: &ConfigMap, runtime: &str) -> bool {
    let labels = found.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(RUNTIME_ANNOTATION)).is_some_and(|id| id == runtime)
}
