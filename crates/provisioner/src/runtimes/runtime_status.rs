//! How a runtime is doing.
//!
//! What a reader would get wrong: neither Gardener nor the runtime can make this fail. What they do not
//! tell in time is left out, and nobody is asked for what is not wanted.

use std::time::Duration;

use base::failure::chain;
use clients::{
    kubernetes::Cluster,
    runtime::{Connection, Report, Runtime as Inside},
};
use secrecy::{ExposeSecret, SecretString};
use store::provisioner::Runtime;
use tokio::time::timeout;

use super::{Caller, Provisioner, hibernate::hibernation_possible};
use crate::{
    Error,
    operations::{
        OWNER,
        own_shoot::{Lookup, gone},
    },
    status::{ConnectionState, ConnectionStatus, Hibernation, RuntimeStatus, StatusFields},
};

/// How long a status waits for what others know.
const PATIENCE: Duration = Duration::from_secs(3);

/// A runtime's kubeconfig.
enum KubeconfigState {
    /// There is none yet, or none any more.
    None,
    /// This one.
    In(SecretString),
    /// There was one, and this is in it.
    Barred(String),
}

impl Provisioner {
    /// How a runtime is doing, with the parts that are wanted.
    pub async fn runtime_status(
        &self,
        caller: &Caller,
        runtime: &str,
        parts: StatusFields,
    ) -> Result<RuntimeStatus, Error> {
        let owned = self.owned(caller, runtime).await?;
        let row = &owned.row;
        let last = match self.0.store.last_operation(row.id).await? {
            Some(last) => Some(self.status_of(last).await?),
            None => None,
        };
        let lookup = if parts.outside() && row.deleted_at.is_none() {
            let asking = self.0.env.look_up(row.id, &row.shoot, row.shoot_uid.as_deref());
            timeout(PATIENCE, asking).await.ok().and_then(Result::ok)
        } else {
            None
        };
        let way = if parts.kubeconfig || parts.connection {
            self.way_in(row, lookup.as_ref()).await
        } else {
            KubeconfigState::None
        };
        let connection = if parts.connection { self.connection(&way).await } else { PENDING };
        let kubeconfig = match way {
            KubeconfigState::In(kubeconfig) if parts.kubeconfig => {
                Some(kubeconfig.expose_secret().to_owned())
            }
            _ => None,
        };
        let hibernation = sleep_of(lookup.as_ref());
        let configuration = owned.document.configuration;
        Ok(RuntimeStatus {
            last_operation: last,
            connection,
            configuration,
            kubeconfig,
            hibernation,
        })
    }

    /// The kubeconfig; a new one when the stored one ends soon, or when there is none of a cluster that was made: a runtime
    /// that was imported has none. Without Gardener's word the stored one has to do.
    async fn way_in(&self, row: &Runtime, lookup: Option<&Lookup>) -> KubeconfigState {
        let kept = row.kubeconfig.as_ref();
        let made = kept.is_some() || row.provisioned_at.is_some();
        if !made || row.deleted_at.is_some() {
            return KubeconfigState::None;
        }
        let now = self.0.clock.now();
        let env = &self.0.env;
        match lookup {
            Some(Lookup::Missing) => return KubeconfigState::Barred(gone(&row.shoot)),
            Some(Lookup::Foreign(foreign)) => return KubeconfigState::Barred(foreign.text()),
            Some(Lookup::Own(_)) if !kept.is_some_and(|kept| env.lasts(kept, now)) => {
                let asking = env.new_kubeconfig(row.id, &row.shoot);
                if let Ok(Ok(kubeconfig)) = timeout(PATIENCE, asking).await {
                    return KubeconfigState::In(kubeconfig);
                }
            }
            Some(Lookup::Own(_)) | None => {}
        }
        match kept {
            Some(kept) if kept.until > now => KubeconfigState::In(kept.text.clone()),
            Some(_) => KubeconfigState::Barred(
                "its kubeconfig has ended, and Gardener gives no other one".into(),
            ),
            None => {
                KubeconfigState::Barred("it has no kubeconfig yet, and Gardener gives none".into())
            }
        }
    }

    async fn connection(&self, way: &KubeconfigState) -> ConnectionStatus {
        let kubeconfig = match way {
            KubeconfigState::None => return PENDING,
            KubeconfigState::Barred(why) => return unreachable(why.clone()),
            KubeconfigState::In(kubeconfig) => kubeconfig,
        };
        let asking = async {
            let cluster: Cluster = self.0.env.clusters.get(kubeconfig).await?;
            Inside::new(cluster, OWNER).agent().await
        };
        match timeout(PATIENCE, asking).await {
            Ok(Ok(report)) => reported(report),
            Ok(Err(error)) => {
                tracing::info!(system = %error.component, error = chain(&error), "runtime unreachable");
                unreachable(error.to_string())
            }
            Err(_) => unreachable(format!("the runtime did not answer within {PATIENCE:?}")),
        }
    }
}

/// When nothing is known about the agent.
const PENDING: ConnectionStatus =
    ConnectionStatus { state: ConnectionState::Pending, errors: Vec::new() };

/// When the runtime cannot be asked about its agent.
fn unreachable(why: String) -> ConnectionStatus {
    ConnectionStatus { state: ConnectionState::Disconnected, errors: vec![why] }
}

fn reported(report: Report) -> ConnectionStatus {
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

/// Whether the runtime's own Shoot sleeps; nothing about any other.
fn sleep_of(lookup: Option<&Lookup>) -> Hibernation {
    let Some(Lookup::Own(shoot)) = lookup else { return Hibernation::default() };
    let hibernated = shoot.status.as_ref().and_then(|status| status.hibernated);
    Hibernation {
        hibernated: Some(hibernated.unwrap_or_default()),
        possible: Some(hibernation_possible(shoot).is_some_and(|(possible, _)| possible)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_of_itself_is_told_in_three_words() {
        let told = |state: &str| {
            let report =
                Report { state: state.into(), established: None, errors: vec!["why".to_owned()] };
            let told = reported(report);
            assert_eq!(told.errors, ["why"], "{state}");
            told.state
        };

        for connected in [
            "Connected",
            "MetadataUpdateFailed",
            "ResourceApplicationFailed",
            "SynchronizationFailed",
            "Synchronized",
        ] {
            assert_eq!(told(connected), ConnectionState::Connected, "{connected}");
        }
        for disconnected in ["ConnectionFailed", "ConnectionMaintenanceFailed"] {
            assert_eq!(told(disconnected), ConnectionState::Disconnected, "{disconnected}");
        }
        for pending in ["", "NotInitialized", "something new"] {
            assert_eq!(told(pending), ConnectionState::Pending, "{pending}");
        }
    }
}
