//! What the provisioner reaches: Gardener, the Director, releases of Kyma, and the clusters that were made.

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path};

use anyhow::Context;
use base::Clock;
use clients::{
    Component, Gate, Grant, Http, Limits, TokenSource,
    director::Director,
    gardener::Gardener,
    kubernetes::{Cluster, Clusters},
    releases::Releases,
    runtime::Groups,
};
use provisioner::{
    checking, configuration,
    operations::{Env, OWNER, StepSettings},
    shoots::{AuditTenants, Rules, Window},
};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use store::ProvisionerStore;
use url::Url;

use crate::settings::{provisioner::ProvisionerSettings, values::Module};

/// Where everything is that the provisioner reaches.
pub(crate) struct Outside {
    /// The kubeconfig of the garden.
    pub(crate) gardener: SecretString,
    /// The Director's endpoint.
    pub(crate) director: Url,
    /// Where its tokens come from.
    pub(crate) tokens: Url,
    /// Who we are to the issuer of tokens, and how we prove it.
    pub(crate) client: (String, SecretString),
    /// Where releases are, and what is not released yet.
    pub(crate) releases: (Url, Url),
    /// How long an agent that failed may try.
    pub(crate) agent_patience: std::time::Duration,
}

/// Clients of those that are reached from the start.
pub(crate) struct Reached {
    pub(crate) gardener: Gardener,
    pub(crate) director: Director,
    /// Where releases are, and what is not released yet.
    pub(crate) releases: (Url, Url),
}

impl Outside {
    /// As the settings have it.
    pub(crate) async fn configured(settings: &ProvisionerSettings) -> anyhow::Result<Self> {
        let path = &settings.gardener.kubeconfig;
        let gardener = tokio::fs::read_to_string(path)
            .await
            .with_context(|| format!("gardener.kubeconfig: {} cannot be read", path.display()))?;
        let director = &settings.director;
        Ok(Self {
            gardener: gardener.into(),
            director: director.url.clone(),
            tokens: director.token_url.clone(),
            client: (director.client_id.clone(), director.client_secret.clone()),
            releases: (settings.kyma.releases.clone(), settings.kyma.development.clone()),
            agent_patience: settings.runtimes.agent_patience,
        })
    }

    /// Clients of those that are reached from the start.
    pub(crate) async fn reach(
        self,
        settings: &ProvisionerSettings,
        clock: &Clock,
    ) -> anyhow::Result<Reached> {
        let limits = Limits { at_once: settings.gardener.calls.get().into(), ..Limits::CLUSTER };
        let gate = Gate::new(Component::GARDENER, limits, clock.clone());
        let garden = Cluster::connect(gate, &self.gardener)
            .await
            .context("the kubeconfig of the garden cannot be used")?;
        let (client_id, client_secret) = self.client;
        let scope = "runtime:read runtime:write".to_owned();
        let grant = Grant::ClientCredentials { id: client_id, secret: client_secret, scope };
        let tokens = TokenSource::new(self.tokens, grant, clock.clone())?;
        let director = Gate::new(Component::DIRECTOR, Limits::DEFAULT, clock.clone());
        let director =
            Http::through(director, self.director)?.with_token(tokens).renewing_refused_tokens();
        Ok(Reached {
            gardener: Gardener::new(garden, &settings.gardener.project, OWNER),
            director: Director::new(director),
            releases: self.releases,
        })
    }

    /// Clients of all of it.
    pub(crate) async fn env(
        self,
        settings: &ProvisionerSettings,
        store: ProvisionerStore,
        clock: &Clock,
    ) -> anyhow::Result<Env> {
        let agent_patience = self.agent_patience;
        let Reached { gardener, director, releases: (released, development) } =
            self.reach(settings, clock).await?;
        let releases = |url| {
            Http::through(Gate::new(Component::RELEASES, Limits::DEFAULT, clock.clone()), url)
        };
        let kept = NonZeroUsize::from(settings.runtimes.kept_clients);
        Ok(Env {
            gardener,
            director,
            clusters: Clusters::new(Component::RUNTIME, Limits::CLUSTER, clock.clone(), kept),
            releases: Releases::new(releases(released)?, releases(development)?),
            store,
            rules: rules(settings)?,
            audit_tenants: match &settings.gardener.audit_tenants {
                Some(path) => json::<AuditTenants>(path, "gardener.audit_tenants")?,
                None => AuditTenants::default(),
            },
            settings: StepSettings {
                kubeconfig_lifetime: settings.runtimes.kubeconfig_lifetime,
                kubeconfig_margin: settings.runtimes.kubeconfig_margin,
                bind_administrators: settings.runtimes.bind_administrators,
                groups: Groups {
                    looking: settings.runtimes.l2_group.clone(),
                    acting: settings.runtimes.l3_group.clone(),
                },
                service_manager: settings.runtimes.service_manager.clone(),
                agent_patience,
            },
        })
    }
}

fn rules(settings: &ProvisionerSettings) -> anyhow::Result<Rules> {
    let windows = match &settings.gardener.maintenance_windows {
        Some(path) => json::<BTreeMap<String, Window>>(path, "gardener.maintenance_windows")?,
        None => BTreeMap::new(),
    };
    Ok(Rules {
        project: settings.gardener.project.clone(),
        audit_policy_config_map: settings.gardener.audit_policy.clone(),
        maintenance_windows: windows,
    })
}

/// What requests may leave out.
pub(crate) fn defaults(settings: &ProvisionerSettings) -> checking::Defaults {
    let wanted = &settings.defaults;
    let mut defaults = checking::Defaults {
        kubernetes_auto_update: wanted.kubernetes_auto_update,
        machine_image_auto_update: wanted.machine_image_auto_update,
        kyma_lite: settings.kyma.lite.iter().map(component).collect(),
        ..checking::Defaults::default()
    };
    let machines = [
        ("aws", &wanted.machine_aws),
        ("azure", &wanted.machine_azure),
        ("gcp", &wanted.machine_gcp),
        ("openstack", &wanted.machine_openstack),
    ];
    for (provider, machine) in machines {
        if let Some(machine) = machine {
            defaults.machine_types.insert(provider.into(), machine.clone());
        }
    }
    if let Some(version) = &wanted.kubernetes_version {
        defaults.kubernetes_version.clone_from(version);
    }
    for (value, place) in [
        (wanted.auto_scaler_min, &mut defaults.auto_scaler_min),
        (wanted.auto_scaler_max, &mut defaults.auto_scaler_max),
        (wanted.volume_size_gb, &mut defaults.volume_size_gb),
    ] {
        *place = value.unwrap_or(*place);
    }
    defaults
}

fn component(module: &Module) -> configuration::Component {
    configuration::Component {
        component: module.component.clone(),
        namespace: module.namespace.clone(),
        configuration: Vec::new(),
        source_url: None,
        conflict_strategy: None,
    }
}

fn json<T: DeserializeOwned>(path: &Path, setting: &str) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{setting}: {} cannot be read", path.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{setting}: {} is not what it should be", path.display()))
}
