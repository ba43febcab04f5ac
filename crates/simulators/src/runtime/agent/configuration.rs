//! The agent's configuration, and its stored state.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, Error,
    api::{Patch, PatchParams},
};
use serde_json::json;

use super::MANAGER;
use crate::runtime::kinds::CONFIGURATION;

/// Where it may lie.
const NAMESPACES: [&str; 2] = ["kyma-system", "compass-system"];
/// The Secret with the agent's credentials.
pub(super) const CREDENTIALS: &str = "compass-agent-credentials";

/// A one-time token, and where to take it.
pub(super) struct Configuration {
    pub(super) namespace: String,
    pub(super) connector_url: String,
    pub(super) runtime_id: String,
    pub(super) tenant: String,
    pub(super) token: String,
}

/// The agent's credentials for the Director.
#[derive(Clone)]
pub(super) struct Credentials {
    pub(super) director_url: String,
    pub(super) connector_url: String,
    pub(super) runtime_id: String,
    pub(super) tenant: String,
    pub(super) token: String,
    pub(super) valid_from: String,
    pub(super) valid_until: String,
}

/// The texts of a Secret.
fn texts(secret: &Secret) -> BTreeMap<&str, String> {
    let data = secret.data.iter().flatten();
    data.filter_map(|(key, value)| Some((key.as_str(), String::from_utf8(value.0.clone()).ok()?)))
        .collect()
}

impl Configuration {
    /// All that are there and complete.
    pub(super) async fn all(client: &Client) -> Result<Vec<Self>, Error> {
        let mut found = Vec::new();
        // Read in the opposite order of their writing: when the later one is found, the earlier one is too, and the same
        // one comes first however far the provisioner has got.
        for namespace in NAMESPACES.into_iter().rev() {
            let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
            let secret = secrets.get_opt(CONFIGURATION).await?;
            found.extend(secret.and_then(|secret| Self::read(namespace, &secret)));
        }
        found.reverse();
        Ok(found)
    }

    fn read(namespace: &str, secret: &Secret) -> Option<Self> {
        let mut texts = texts(secret);
        Some(Self {
            namespace: namespace.into(),
            connector_url: texts.remove("CONNECTOR_URL")?,
            runtime_id: texts.remove("RUNTIME_ID")?,
            tenant: texts.remove("TENANT")?,
            token: texts.remove("TOKEN")?,
        })
    }

    /// Tells tokens apart without showing them.
    pub(super) fn digest(&self) -> String {
        let text = format!("{}\n{}\n{}", self.runtime_id, self.tenant, self.token);
        let digest = digest(&SHA256, text.as_bytes());
        URL_SAFE_NO_PAD.encode(&digest.as_ref()[..12])
    }
}

impl Credentials {
    /// Reads what was kept.
    pub(super) fn read(secret: &Secret) -> Option<Self> {
        let mut texts = texts(secret);
        Some(Self {
            director_url: texts.remove("DIRECTOR_URL")?,
            connector_url: texts.remove("CONNECTOR_URL")?,
            runtime_id: texts.remove("RUNTIME_ID")?,
            tenant: texts.remove("TENANT")?,
            token: texts.remove("TOKEN")?,
            valid_from: texts.remove("VALID_FROM")?,
            valid_until: texts.remove("VALID_UNTIL")?,
        })
    }

    /// Keeps them in the runtime.
    pub(super) async fn keep(&self, client: &Client, namespace: &str) -> Result<(), Error> {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let secret = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": CREDENTIALS, "namespace": namespace},
            "stringData": {
                "DIRECTOR_URL": self.director_url,
                "CONNECTOR_URL": self.connector_url,
                "RUNTIME_ID": self.runtime_id,
                "TENANT": self.tenant,
                "TOKEN": self.token,
                "VALID_FROM": self.valid_from,
                "VALID_UNTIL": self.valid_until,
            },
        });
        let by = PatchParams::apply(MANAGER).force();
        secrets.patch(CREDENTIALS, &by, &Patch::Apply(secret)).await.map(drop)
    }
}
