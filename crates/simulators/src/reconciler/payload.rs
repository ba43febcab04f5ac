//! The payload of a cluster, and its stored form: without secrets, only with their digest.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use kube::config::Kubeconfig;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::error::Refusal;

/// The largest payload.
const LARGEST: usize = 100_000;

/// A cluster as it comes in.
#[derive(Deserialize)]
pub(super) struct Payload {
    #[serde(rename = "runtimeID")]
    pub(super) runtime_id: String,
    #[serde(default, rename = "runtimeInput")]
    pub(super) runtime_input: Value,
    #[serde(rename = "kymaConfig")]
    pub(super) kyma_config: KymaConfig,
    #[serde(default)]
    pub(super) metadata: Value,
    #[serde(default, deserialize_with = "null_as_empty")]
    pub(super) kubeconfig: String,
}

/// The Kyma that it shall have.
#[derive(Deserialize, serde::Serialize)]
pub(super) struct KymaConfig {
    version: String,
    profile: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    administrators: Vec<String>,
    #[serde(default, deserialize_with = "null_as_empty")]
    components: Vec<Part>,
}

#[derive(Deserialize, serde::Serialize)]
struct Part {
    component: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    namespace: String,
    #[serde(default, rename = "URL", deserialize_with = "null_as_empty")]
    url: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    version: String,
    #[serde(default, deserialize_with = "null_as_empty")]
    configuration: Vec<Entry>,
}

#[derive(Deserialize, serde::Serialize)]
struct Entry {
    key: String,
    value: Value,
    #[serde(default)]
    secret: bool,
}

/// The Reconciler is written in Go, which reads `null` as the empty value.
fn null_as_empty<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

impl Payload {
    /// Reads a body, or refuses it as the Reconciler does.
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        if body.len() > LARGEST {
            return Err(Refusal::BadRequest("http: request body too large".into()));
        }
        let payload: Self = serde_json::from_slice(body).map_err(|error| {
            Refusal::BadRequest(format!("Failed to unmarshal JSON payload: {error}"))
        })?;
        if payload.runtime_id.is_empty() {
            return Err(Refusal::BadRequest("runtimeID is missing".into()));
        }
        if let Err(error) = Kubeconfig::from_yaml(&payload.kubeconfig) {
            return Err(Refusal::BadRequest(format!("{UNREACHABLE}: {error}")));
        }
        Ok(payload)
    }

    /// The digest of name, owner and kubeconfig.
    pub(super) fn cluster_digest(&self) -> String {
        let text = format!("{}{}{}", self.runtime_input, self.metadata, self.kubeconfig);
        digest_of(text.as_bytes())
    }
}

/// The Reconciler's message about an unusable kubeconfig.
pub(super) const UNREACHABLE: &str =
    "failed to list namespaces: the kubeconfig does not lead to a cluster";

impl KymaConfig {
    /// The digest that shows changes.
    pub(super) fn digest(&self) -> String {
        digest_of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The names of its parts.
    pub(super) fn parts(&self) -> Vec<String> {
        self.components.iter().map(|part| part.component.clone()).collect()
    }

    /// The stored form, without secrets.
    pub(super) fn without_secrets(mut self) -> Value {
        let entries = self.components.iter_mut().flat_map(|part| &mut part.configuration);
        for entry in entries.filter(|entry| entry.secret) {
            entry.value = "[REDACTED]".into();
        }
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn digest_of(bytes: &[u8]) -> String {
    BASE64_STANDARD_NO_PAD.encode(digest(&SHA256, bytes))
}
