//! A kubeconfig with all rights in a Shoot, for a while.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::Gardener;
use crate::error::{Component, Error, Kind};

/// A kubeconfig with all rights, and when it ends.
#[derive(Debug, Clone)]
pub struct AdminKubeconfig {
    /// The kubeconfig, as YAML.
    pub kubeconfig: SecretString,
    /// When it ends; Gardener may give less than was asked for.
    pub until: Timestamp,
}

#[derive(Deserialize)]
struct AdminKubeconfigAnswer {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    kubeconfig: SecretString,
    expiration_timestamp: Timestamp,
}

impl Gardener {
    /// A kubeconfig for `lifetime`, which Gardener wants to be ten minutes at least.
    pub async fn admin_kubeconfig(
        &self,
        shoot: &str,
        lifetime: Duration,
    ) -> Result<AdminKubeconfig, Error> {
        let request = json!({
            "apiVersion": "authentication.gardener.cloud/v1alpha1",
            "kind": "AdminKubeconfigRequest",
            "spec": {"expirationSeconds": lifetime.as_secs()},
        });
        let answered = match self.shoots.post_to(shoot, "adminkubeconfig", &request).await {
            // Gardener has not stored the state of the Shoot yet: it says that there is no such Shoot.
            Err(error) if error.kind == Kind::NotFound && self.shoot(shoot).await?.is_some() => {
                let said = "the Shoot is there, its kubeconfig is not yet";
                return Err(Error { kind: Kind::Unavailable, ..error }.saying(said));
            }
            answered => answered?,
        };
        let answered: AdminKubeconfigAnswer = answered;
        let malformed = || {
            let doing = format!("asking for the adminkubeconfig of Shoot {shoot}");
            Error::new(Component::GARDENER, Kind::Malformed, &doing)
                .saying("field status.kubeconfig")
        };
        let status = answered.status;
        let bytes = STANDARD.decode(status.kubeconfig.expose_secret()).map_err(|_| malformed())?;
        let text = String::from_utf8(bytes).map_err(|_| malformed())?;
        if text.is_empty() {
            return Err(malformed());
        }
        Ok(AdminKubeconfig { kubeconfig: text.into(), until: status.expiration_timestamp })
    }
}
