//! How a runtime is doing.
//!
//! What a reader would get wrong: neither Gardener nor the runtime can make this fail. What they do not
//! tell in time is left out.

use std::time::Duration;

use clients::{
    kubernetes::Cluster,
    runtime::{Connection, Runtime as Inside},
};
use secrecy::{ExposeSecret, SecretString};
use store::provisioner::Runtime;
use tokio::time::timeout;

use super::{Caller, Provisioner, hibernate::hibernation_possible};
use crate::{
    Error,
    operations::{OWNER, Target},
    status::{ConnectionState, ConnectionStatus, Hibernation, RuntimeStatus},
};

/// How long a status waits for what others know.
const PATIENCE: Duration = Duration::from_secs(3);

impl Provisioner {
    /// How a runtime is doing.
    pub async fn runtime_status(
        &self,
        caller: &Caller,
        runtime: &str,
    ) -> Result<RuntimeStatus, Error> {
        let owned = self.owned(caller, runtime).await?;
        let last = match self.0.store.last_operation(owned.row.id).await? {
            Some(last) => Some(self.status_of(last).await?),
            None => None,
        };
        let kubeconfig = self.way_in(&owned.row).await;
        let (connection, hibernation) =
            tokio::join!(self.connection(kubeconfig.as_ref()), self.sleep_of(&owned.row));
        Ok(RuntimeStatus {
            last_operation: last,
            connection,
            configuration: owned.document.configuration,
            kubeconfig: kubeconfig.map(|kubeconfig| kubeconfig.expose_secret().to_owned()),
            hibernation,
        })
    }

    /// The kubeconfig; a new one when the stored one ends soon.
    async fn way_in(&self, row: &Runtime) -> Option<SecretString> {
        let kept = row.kubeconfig.as_ref().filter(|_| row.deleted_at.is_none())?;
        let now = self.0.clock.now();
        let target = Target {
            runtime: row.id,
            tenant: row.tenant.clone(),
            subaccount: row.subaccount.clone(),
            shoot: row.shoot.clone(),
        };
        match timeout(PATIENCE, self.0.env.kubeconfig(&target, now, false)).await {
            Ok(Ok(kubeconfig)) => Some(kubeconfig),
            _ => Some(kept.text.clone()).filter(|_| kept.until > now),
        }
    }

    async fn connection(&self, kubeconfig: Option<&SecretString>) -> ConnectionStatus {
        let pending = ConnectionStatus { state: ConnectionState::Pending, errors: Vec::new() };
        let Some(kubeconfig) = kubeconfig else { return pending };
        let asking = async {
            let cluster: Cluster = self.0.env.clusters.get(kubeconfig).await.ok()?;
            Inside::new(cluster, OWNER).agent().await.ok()
        };
        let Ok(Some(report)) = timeout(PATIENCE, asking).await else { return pending };
        let state = match report.connection() {
            Connection::Connected => ConnectionState::Connected,
            Connection::Failed => ConnectionState::Disconnected,
            Connection::Missing => ConnectionState::Pending,
            Connection::Pending(state) => match state.as_str() {
                "Connected" | "ResourceApplicationFailed" => ConnectionState::Connected,
                "ConnectionMaintenanceFailed" => ConnectionState::Disconnected,
                _ => ConnectionState::Pending,
            },
        };
        ConnectionStatus { state, errors: report.errors }
    }

    async fn sleep_of(&self, row: &Runtime) -> Hibernation {
        if row.deleted_at.is_some() {
            return Hibernation::default();
        }
        let asking = self.0.env.gardener.shoot(&row.shoot);
        let Ok(Ok(Some(shoot))) = timeout(PATIENCE, asking).await else {
            return Hibernation::default();
        };
        let hibernated = shoot.status.as_ref().and_then(|status| status.hibernated);
        Hibernation {
            hibernated: Some(hibernated.unwrap_or_default()),
            possible: Some(hibernation_possible(&shoot).is_some_and(|(possible, _)| possible)),
        }
    }
}
