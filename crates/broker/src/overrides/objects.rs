//! `ConfigMaps` and Secrets of the control plane's cluster, as plain texts.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use clients::{
    Component, Error, Kind,
    kubernetes::{Cluster, Resource},
};
use serde::{Deserialize, de::DeserializeOwned};

/// Where `ConfigMaps` stand.
pub(crate) const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");

/// Name and labels.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    name: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

impl Metadata {
    /// The value of a label that says something.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        let value = self.labels.as_ref()?.get(key)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }
}

/// A `ConfigMap`.
#[derive(Deserialize)]
pub(crate) struct ConfigMap {
    pub(crate) metadata: Metadata,
    #[serde(default)]
    pub(crate) data: Option<BTreeMap<String, String>>,
}

/// A Secret. It has no `Debug`.
#[derive(Deserialize)]
pub(crate) struct Secret {
    pub(crate) metadata: Metadata,
    #[serde(default)]
    data: Option<BTreeMap<String, String>>,
}

impl Secret {
    /// Its values.
    pub(crate) fn texts(&self) -> Result<Vec<(&str, String)>, Error> {
        let all = self.data.iter().flatten();
        all.map(|(key, value)| Ok((key.as_str(), self.text(key, value)?))).collect()
    }

    fn text(&self, key: &str, value: &str) -> Result<String, Error> {
        let bytes = BASE64_STANDARD.decode(value).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        text.ok_or_else(|| {
            let doing = format!("reading Secret {}", self.metadata.name);
            let unread = Error::new(Component::CONTROL_PLANE, Kind::Malformed, &doing);
            unread.saying(format!("the value of {key} is no text"))
        })
    }
}

/// Something with a name.
pub(crate) trait HasName {
    fn name(&self) -> &str;
}

impl HasName for ConfigMap {
    fn name(&self) -> &str {
        &self.metadata.name
    }
}

impl HasName for Secret {
    fn name(&self) -> &str {
        &self.metadata.name
    }
}

/// All that a selector matches, in the order of their names.
pub(crate) async fn list<T: DeserializeOwned + HasName>(
    cluster: &Cluster,
    resource: Resource,
    namespace: &str,
    selector: &str,
) -> Result<Vec<T>, Error> {
    let mut found: Vec<T> = cluster.objects(resource, Some(namespace)).list(selector).await?;
    found.sort_by(|one, other| one.name().cmp(other.name()));
    Ok(found)
}

/// One `ConfigMap`, if it is there.
pub(crate) async fn map(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<Option<ConfigMap>, Error> {
    cluster.objects(CONFIG_MAPS, Some(namespace)).find(name).await
}
