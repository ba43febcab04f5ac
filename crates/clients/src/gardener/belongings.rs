//! What a Shoot needs beside itself in the project: a `ConfigMap`, and the newer kind of binding to its account.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::{BindingKind, Gardener, RUNTIME_ANNOTATION};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::{Objects, Resource},
};

const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");
/// Whom an object in the project belongs to.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kcp-provisioner");

impl Gardener {
    fn config_maps(&self) -> Objects<ConfigMap> {
        self.cluster.objects(CONFIG_MAPS, Some(&self.namespace))
    }

    /// Makes a runtime's `ConfigMap`, or brings it to these contents. One that is not the runtime's is left alone.
    pub async fn put_config_map(
        &self,
        name: &str,
        runtime: &str,
        data: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        let maps = self.config_maps();
        let labels = BTreeMap::from([(RUNTIME_ANNOTATION, runtime), (MANAGED_BY.0, MANAGED_BY.1)]);
        let wanted = json!({"metadata": {"name": name, "labels": labels}, "data": data});
        let found = match maps.find(name).await? {
            Some(found) => found,
            None => match maps.create(name, &wanted).await {
                Err(error) if error.kind == Kind::AlreadyExists => maps.get(name).await?,
                made => return made.map(drop),
            },
        };
        if !is_of(&found, runtime) {
            let doing = format!("writing ConfigMap {name}");
            let error = Error::new(Component::GARDENER, Kind::AlreadyExists, &doing);
            return Err(error.saying("it is not the one of this runtime"));
        }
        if found.data.as_ref() == Some(data) {
            return Ok(());
        }
        let removed = found.data.iter().flatten().filter(|(key, _)| !data.contains_key(*key));
        let mut patch: serde_json::Map<String, Value> =
            removed.map(|(key, _)| (key.clone(), Value::Null)).collect();
        patch.extend(data.iter().map(|(key, text)| (key.clone(), json!(text))));
        let version = &found.metadata.resource_version;
        let patch = json!({"metadata": {"resourceVersion": version}, "data": patch});
        maps.merge(name, &patch).await.map(drop)
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
    pub async fn put_credentials_binding(&self, name: &str) -> Result<(), Error> {
        let of = |kind: BindingKind| -> Objects<Value> {
            self.cluster.objects(kind.resource(), Some(&self.namespace))
        };
        let newer = of(BindingKind::Credentials);
        if newer.find(name).await?.is_some() {
            return Ok(());
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
        match newer.create(name, &wanted).await {
            Err(error) if error.kind == Kind::AlreadyExists => Ok(()),
            made => made.map(drop),
        }
    }
}

fn is_of(found: &ConfigMap, runtime: &str) -> bool {
    let labels = found.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(RUNTIME_ANNOTATION)).is_some_and(|id| id == runtime)
}
