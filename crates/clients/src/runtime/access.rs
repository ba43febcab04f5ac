//! Access to a runtime for a while: a service account of its own, a role with all rights, and a token that expires.
//!
//! What a reader would get wrong: everything has one name, so that it is found and removed without knowing how far its making got.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::ServiceAccount,
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, Runtime};
use crate::{
    error::{Error, Kind},
    kubernetes::{Objects, Resource},
};

const SERVICE_ACCOUNTS: Resource = Resource::core("ServiceAccount", "serviceaccounts");
/// Where the service accounts are.
const NAMESPACE: &str = "kyma-system";
/// Marks what is ours.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "kcp-kyma-environment-broker");

/// A token, and when it ends.
#[derive(Debug, Clone)]
pub struct Token {
    /// The token.
    pub token: SecretString,
    /// When it ends; the API server may give more or less than was asked for.
    pub until: Timestamp,
}

#[derive(Deserialize)]
struct TokenRequestAnswer {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: SecretString,
    expiration_timestamp: Timestamp,
}

impl Runtime {
    /// Makes access of this name, or finds it, and gives a token for it. Kubernetes wants `lifetime` to be ten minutes at least.
    pub async fn grant_access(&self, name: &str, lifetime: Duration) -> Result<Token, Error> {
        let accounts = self.accounts();
        let account = json!({"metadata": {"name": name, "labels": labels()}});
        let made = match accounts.create(name, &account).await {
            // The namespace comes with Kyma.
            Err(error) if error.kind == Kind::NotFound => {
                self.ensure_namespace(NAMESPACE).await?;
                accounts.create(name, &account).await
            }
            made => made,
        };
        match made {
            Err(error) if error.kind == Kind::AlreadyExists => {}
            made => drop(made?),
        }
        self.roles().apply(name, &self.owner, &role(name)).await?;
        self.role_bindings().apply(name, &self.owner, &role_binding(name)).await?;
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": lifetime.as_secs()},
        });
        let TokenRequestAnswer { status } = accounts.post_to(name, "token", &request).await?;
        Ok(Token { token: status.token, until: status.expiration_timestamp })
    }

    /// Removes access of this name, as far as it is there. Rights go first; with the service account every token of it ends.
    pub async fn revoke_access(&self, name: &str) -> Result<(), Error> {
        self.role_bindings().delete(name, None).await?;
        self.roles().delete(name, None).await?;
        self.accounts().delete(name, None).await?;
        Ok(())
    }

    fn accounts(&self) -> Objects<ServiceAccount> {
        self.cluster.objects(SERVICE_ACCOUNTS, Some(NAMESPACE))
    }

    fn roles(&self) -> Objects<ClusterRole> {
        self.cluster.objects(CLUSTER_ROLES, None)
    }

    fn role_bindings(&self) -> Objects<ClusterRoleBinding> {
        self.cluster.objects(CLUSTER_ROLE_BINDINGS, None)
    }
}

fn labels() -> Value {
    json!({MANAGED_BY.0: MANAGED_BY.1})
}

fn role(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels()},
        "rules": [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["*"]},
        ],
    })
}

fn role_binding(name: &str) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels()},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
    })
}
