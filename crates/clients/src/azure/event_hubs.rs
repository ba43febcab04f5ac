//! Event hubs: a namespace beside its group, and the keys that Kafka clients log in with.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::{Azure, Progress};
use crate::error::{Error, Kind};

const VERSION: &str = "2017-04-01";
const RULE: &str = "RootManageSharedAccessKey";
/// The port on which a namespace speaks Kafka.
pub const KAFKA_PORT: u16 = 9093;
/// The user that logs in with a connection string.
pub const KAFKA_USER: &str = "$ConnectionString";

/// An event hubs namespace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    #[serde(default)]
    properties: Properties,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct Properties {
    #[serde(default, rename = "provisioningState")]
    state: String,
}

impl Namespace {
    /// Whether it can be used.
    pub fn is_ready(&self) -> bool {
        self.properties.state.eq_ignore_ascii_case("Succeeded")
    }
}

/// Credentials of Kafka clients.
#[derive(Debug, Clone, Deserialize)]
pub struct Keys {
    /// Host, rule and key in one; `None` when Azure does not say it yet.
    #[serde(default, rename = "primaryConnectionString", deserialize_with = "blank_is_none")]
    pub connection_string: Option<SecretString>,
}

impl Keys {
    /// The host that Kafka clients connect to.
    pub fn kafka_host(&self) -> Option<String> {
        let text = self.connection_string.as_ref()?.expose_secret();
        let endpoint = text.split(';').next()?.strip_prefix("Endpoint=sb://")?;
        Some(endpoint.trim_end_matches('/').to_owned()).filter(|host| !host.is_empty())
    }
}

impl Azure {
    /// Makes a namespace, or changes the one that is there. It takes minutes.
    pub async fn put_namespace(
        &self,
        group: &str,
        name: &str,
        location: &str,
        tags: &BTreeMap<String, String>,
    ) -> Result<Progress, Error> {
        let doing = format!("making event hubs namespace {name}");
        let path = self.namespace_path(&doing, group, name, "")?;
        let body = json!({ "location": location, "tags": tags });
        let request = self.http.put(&path).query(&[("api-version", VERSION)]).json(&body);
        let raw = self.call("put namespace", &doing, request).await?;
        if raw.status.as_u16() != 202 {
            self.read::<Namespace>(&raw, &doing)?;
        }
        self.judged(&doing, &raw, &format!("{path}?api-version={VERSION}"), false)
    }

    /// A namespace, if it is there.
    pub async fn namespace(&self, group: &str, name: &str) -> Result<Option<Namespace>, Error> {
        let doing = format!("reading event hubs namespace {name}");
        let path = self.namespace_path(&doing, group, name, "")?;
        let request = self.http.get(&path).query(&[("api-version", VERSION)]);
        match self.call("namespace", &doing, request).await {
            Err(error) if error.kind == Kind::NotFound => Ok(None),
            answer => self.read(&answer?, &doing).map(Some),
        }
    }

    /// The namespaces of a group, from all pages.
    pub async fn namespaces(&self, group: &str) -> Result<Vec<Namespace>, Error> {
        let doing = format!("listing event hubs namespaces of {group}");
        let path = self.group_path(&doing, group, "/providers/Microsoft.EventHub/namespaces")?;
        let request = self.http.get(&path).query(&[("api-version", VERSION)]);
        self.list("list namespaces", &doing, request).await
    }

    /// The keys of a namespace.
    pub async fn keys(&self, group: &str, name: &str) -> Result<Keys, Error> {
        let doing = format!("reading the keys of event hubs namespace {name}");
        let rest = format!("/AuthorizationRules/{RULE}/listKeys");
        let path = self.namespace_path(&doing, group, name, &rest)?;
        let request = self.http.post(&path).query(&[("api-version", VERSION)]);
        let raw = self.call("list keys", &doing, request.header("content-length", "0")).await?;
        self.read(&raw, &doing)
    }

    fn namespace_path(
        &self,
        doing: &str,
        group: &str,
        name: &str,
        rest: &str,
    ) -> Result<String, Error> {
        let name = self.named(doing, name, 6..=50)?;
        let rest = format!("/providers/Microsoft.EventHub/namespaces/{name}{rest}");
        self.group_path(doing, group, &rest)
    }
}

fn blank_is_none<'de, D>(deserializer: D) -> Result<Option<SecretString>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let text = Option::<SecretString>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.expose_secret().is_empty()))
}
