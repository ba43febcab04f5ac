//! Builds the client of a system.

use std::{path::Path, sync::Arc};

use anyhow::{Context, anyhow};
use clients::{CallLimits, Component, Gate, kubernetes::Cluster};
use secrecy::SecretString;

use super::SystemClients;
use crate::gates::Gates;

/// Makes the client of one system.
pub(super) struct ClientBuilder<'a> {
    /// The section of settings below `systems`.
    pub(super) section: &'static str,
    pub(super) gates: &'a Gates,
    /// The systems before it in the list.
    pub(super) opened: &'a SystemClients,
}

impl ClientBuilder<'_> {
    /// A value that the section must have. Names the key and the variable when it does not.
    pub(super) fn required<T: Clone>(&self, key: &str, value: Option<&T>) -> anyhow::Result<T> {
        value.cloned().ok_or_else(|| {
            let section = self.section;
            let variable = format!("{section}_{key}").replace('.', "_").to_uppercase();
            anyhow!("systems.{section}.{key} is missing (or KCP_BROKER_{variable})")
        })
    }

    /// The same for another section.
    pub(super) fn of(&self, section: &'static str) -> Self {
        Self { section, ..*self }
    }

    pub(super) fn gate(&self, component: Component) -> Arc<Gate> {
        self.gates.gate(component)
    }

    /// The gate to the issuers of tokens.
    pub(super) fn tokens(&self) -> Arc<Gate> {
        self.gate(Component::ISSUER)
    }

    /// The cluster of a kubeconfig.
    pub(super) async fn cluster(
        &self,
        component: Component,
        limits: CallLimits,
        kubeconfig: &Path,
    ) -> anyhow::Result<Cluster> {
        let setting = format!("systems.{}.kubeconfig: {}", self.section, kubeconfig.display());
        let text = tokio::fs::read_to_string(kubeconfig)
            .await
            .with_context(|| format!("{setting} cannot be read"))?;
        self.gates.check_kubeconfig(&setting, &text)?;
        let gate = self.gates.limited(component, limits);
        let connected = Cluster::connect(gate, &SecretString::from(text)).await;
        connected.with_context(|| format!("{setting} cannot be used"))
    }
}
