//! Objects of bindings in a runtime, made with its admin kubeconfig, which the provisioner has.

use std::time::Duration;

use base::failure::chain;
use clients::{
    Kind,
    kubernetes::{Cluster, ClusterAddress},
    provisioner::{RuntimeStatus, Tenant},
    runtime::{Runtime, Token},
};
use secrecy::SecretString;
use store::broker::Instance;

use super::{Bindings, RuntimeReach};
use crate::{Order, instances::Error};

/// The name under which runtimes remember which fields are ours.
const OWNER: &str = "kcp-broker";

/// Why a runtime did not do what it was asked to.
pub(super) enum Trouble {
    /// There is no such runtime, so that nothing can be in it.
    Gone,
    /// It was not called.
    NotCalled(Error),
    /// It was called, and something may have been made or removed.
    Called(Error),
}

/// A runtime, and the admin kubeconfig that it was opened with.
pub(super) struct OpenRuntime {
    pub(super) cluster: Cluster,
    pub(super) admin: SecretString,
}

type Source = Box<dyn std::error::Error + Send + Sync>;

fn not_called(row: &Instance, error: impl Into<Source>) -> Trouble {
    Trouble::NotCalled(Error::runtime(&row.id, error.into()))
}

pub(super) fn called(row: &Instance, error: impl Into<Source>) -> Trouble {
    Trouble::Called(Error::runtime(&row.id, error.into()))
}

impl Trouble {
    pub(super) fn into_error(self, row: &Instance) -> Error {
        match self {
            Self::Gone => Error::Bad(format!("instance {} has no runtime", row.id)),
            Self::NotCalled(error) | Self::Called(error) => error,
        }
    }
}

/// Credentials that were granted.
pub(super) struct GrantedCredentials {
    pub(super) kubeconfig: SecretString,
    pub(super) token: Token,
}

impl Bindings {
    /// Makes access of this name in an instance's runtime.
    pub(super) async fn grant(
        &self,
        row: &Instance,
        name: &str,
        lifetime: Duration,
    ) -> Result<GrantedCredentials, Trouble> {
        let mut refused = false;
        loop {
            let OpenRuntime { cluster, admin } = self.open(row).await?;
            let runtime = Runtime::new(cluster, OWNER);
            let address = ClusterAddress::of(&admin).map_err(|error| not_called(row, error))?;
            match runtime.grant_access(name, lifetime).await {
                Err(error) if error.kind == Kind::Unauthorized && !refused => {
                    refused = true;
                    self.forget(row, &admin, &error)?;
                }
                Err(error) => return Err(called(row, error)),
                Ok(token) => {
                    return Ok(GrantedCredentials {
                        kubeconfig: address.with_token(&token.token),
                        token,
                    });
                }
            }
        }
    }

    /// Removes access of this name from an instance's runtime, as far as it is there.
    pub(super) async fn revoke(&self, row: &Instance, name: &str) -> Result<(), Trouble> {
        let mut refused = false;
        loop {
            let OpenRuntime { cluster, admin } = match self.open(row).await {
                // With a runtime goes everything in it.
                Err(Trouble::Gone) => return Ok(()),
                opened => opened?,
            };
            let runtime = Runtime::new(cluster, OWNER);
            match runtime.revoke_access(name).await {
                Err(error) if error.kind == Kind::Unauthorized && !refused => {
                    refused = true;
                    self.forget(row, &admin, &error)?;
                }
                revoked => return revoked.map_err(|error| called(row, error)),
            }
        }
    }

    /// An instance's runtime, opened with its admin kubeconfig.
    pub(super) async fn open(&self, row: &Instance) -> Result<OpenRuntime, Trouble> {
        let status = self.status(row).await?;
        if status.hibernated() == Some(true) {
            let text = format!("the runtime of instance {} is hibernated", row.id);
            return Err(Trouble::NotCalled(Error::Bad(text)));
        }
        let Some(admin) = status.kubeconfig().cloned() else {
            return Err(not_called(row, "the provisioner has no kubeconfig of the runtime"));
        };
        let RuntimeReach { clusters, .. } = self.reach().map_err(Trouble::NotCalled)?;
        let cluster = clusters.get(&admin).await.map_err(|error| not_called(row, error))?;
        Ok(OpenRuntime { cluster, admin })
    }

    /// An admin kubeconfig that the runtime does not accept has run out: the provisioner is asked for another one, once.
    pub(super) fn forget(
        &self,
        row: &Instance,
        admin: &SecretString,
        error: &clients::Error,
    ) -> Result<(), Trouble> {
        let error = chain(error);
        tracing::info!(
            instance.id = row.id,
            error,
            "runtime refused its admin kubeconfig, asking for another one"
        );
        self.reach().map_err(Trouble::NotCalled)?.clusters.forget(admin);
        Ok(())
    }

    /// The provisioner's status of an instance's runtime.
    pub(super) async fn status(&self, row: &Instance) -> Result<RuntimeStatus, Trouble> {
        let RuntimeReach { provisioner, .. } = self.reach().map_err(Trouble::NotCalled)?;
        let runtime = row.runtime_id.ok_or(Trouble::Gone)?.to_string();
        let order: Order =
            serde_json::from_slice(&row.order).map_err(|error| Trouble::NotCalled(error.into()))?;
        let context = &order.context;
        let tenant =
            Tenant { id: &context.globalaccount_id, subaccount: Some(&context.subaccount_id) };
        match provisioner.runtime_status(tenant, &runtime).await {
            Err(error) if error.kind == Kind::NotFound => Err(Trouble::Gone),
            status => status.map_err(|error| not_called(row, error)),
        }
    }

    fn reach(&self) -> Result<&RuntimeReach, Error> {
        let reach = self.0.reach.as_ref();
        reach.ok_or_else(|| Error::NotBindable("this broker reaches no runtimes".into()))
    }
}
