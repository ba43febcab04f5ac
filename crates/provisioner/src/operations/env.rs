//! The clients and settings of the steps.

use std::time::Duration;

use clients::{
    director::Director, gardener::Gardener, kubernetes::Clusters, releases::Releases,
    runtime::Groups,
};
use engine::StepError;
use jiff::Timestamp;
use secrecy::SecretString;
use store::{ProvisionerStore, provisioner::Kubeconfig};
use uuid::Uuid;

use super::{Target, as_step_error, own_shoot::own};
use crate::shoots::{AuditTenants, Rules};

/// The clients and settings of the steps.
pub struct Env {
    /// Gardener.
    pub gardener: Gardener,
    /// The registry of runtimes.
    pub director: Director,
    /// Clients of the clusters that were made.
    pub clusters: Clusters,
    /// Releases of Kyma.
    pub releases: Releases,
    /// The provisioner's own rows.
    pub store: ProvisionerStore,
    /// Rules for all Shoots.
    pub rules: Rules,
    /// Where audit logs go; nothing is said about it when empty.
    pub audit_tenants: AuditTenants,
    /// Everything else.
    pub settings: StepSettings,
}

/// How steps work.
#[derive(Debug, Clone)]
pub struct StepSettings {
    /// For how long a kubeconfig is asked for.
    pub kubeconfig_lifetime: Duration,
    /// How long before its end a kubeconfig is not used any more.
    pub kubeconfig_margin: Duration,
    /// Whether the named administrators become administrators of the cluster.
    pub bind_administrators: bool,
    /// The groups of operators.
    pub groups: Groups,
    /// Brokers at such addresses are cleaned up after.
    pub service_manager: String,
    /// How long an agent that failed may try before it gets another token.
    pub agent_patience: Duration,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            kubeconfig_lifetime: Duration::from_hours(8),
            kubeconfig_margin: Duration::from_hours(1),
            bind_administrators: true,
            groups: Groups::default(),
            service_manager: "https://service-manager.".into(),
            agent_patience: Duration::from_mins(2),
        }
    }
}

impl Env {
    /// A kubeconfig of the runtime's own Shoot that is good for a while: the stored one, or a new one, which is
    /// stored.
    pub async fn kubeconfig(
        &self,
        target: &Target,
        now: Timestamp,
        renew: bool,
    ) -> Result<SecretString, StepError> {
        let stored = |error: store::Error| StepError::internal(&error);
        let runtime = self.store.find(target.runtime).await.map_err(stored)?;
        let uid = runtime.as_ref().and_then(|runtime| runtime.shoot_uid.as_deref());
        let lookup =
            self.look_up(target.runtime, &target.shoot, uid).await.map_err(as_step_error)?;
        own(lookup, &target.shoot)?;
        let kept = runtime.and_then(|runtime| runtime.kubeconfig);
        match kept.filter(|kept| !renew && self.lasts(kept, now)) {
            Some(kept) => Ok(kept.text),
            None => self.new_kubeconfig(target.runtime, &target.shoot).await,
        }
    }

    /// Whether a kubeconfig is good for a while.
    pub(crate) fn lasts(&self, kubeconfig: &Kubeconfig, now: Timestamp) -> bool {
        kubeconfig.until > now + self.settings.kubeconfig_margin
    }

    /// A new kubeconfig, which is stored. The caller has made sure that the Shoot is the runtime's own.
    pub(crate) async fn new_kubeconfig(
        &self,
        runtime: Uuid,
        shoot: &str,
    ) -> Result<SecretString, StepError> {
        let lifetime = self.settings.kubeconfig_lifetime;
        let made = self.gardener.admin_kubeconfig(shoot, lifetime).await.map_err(as_step_error)?;
        let kept = Kubeconfig { text: made.kubeconfig.clone(), until: made.until };
        let saved = self.store.save_kubeconfig(runtime, &kept).await;
        saved.map_err(|error| StepError::internal(&error))?;
        Ok(made.kubeconfig)
    }
}
