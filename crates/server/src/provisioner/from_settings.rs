//! Clients of the provisioner: Gardener, the Director, releases of Kyma, and the created clusters.

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path, time::Duration};

use anyhow::Context;
use clients::{
    CallLimits, Component, Grant, Http, TokenSource,
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
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use store::ProvisionerStore;
use url::Url;

use crate::{
    gates::Gates,
    settings::provisioner::{
        self as settings, Defaults, Director as DirectorSettings, ProvisionerSettings, Runtimes,
    },
    settings::values::Module,
};

/// Where everything is that the provisioner reaches.
pub(crate) struct ProvisionerAddresses {
    /// The kubeconfig of the garden.
    pub(crate) gardener: SecretString,
    /// The Director's endpoint.
    pub(crate) director: Url,
    /// Where its tokens come from.
    pub(crate) tokens: Url,
    /// Client id and secret for the issuer of tokens.
    pub(crate) client: (String, SecretString),
    /// Where releases are, and what is not released yet.
    pub(crate) releases: (Url, Url),
    /// How long an agent that failed may try.
    pub(crate) agent_patience: Duration,
}

/// Clients of those that are reached from the start.
pub(crate) struct ProvisionerClients {
    pub(crate) gardener: Gardener,
    pub(crate) director: Director,
    /// Where releases are, and what is not released yet.
    pub(crate) releases: (Url, Url),
}

impl ProvisionerAddresses {
    /// As the settings have it.
    pub(crate) async fn configured(settings: &ProvisionerSettings) -> anyhow::Result<Self> {
        let path = &settings.gardener.kubeconfig;
        let DirectorSettings { url, token_url, client_id, client_secret } = &settings.director;
        // Kyma Lite is for requests, see `defaults`.
        let settings::Kyma { releases, development, lite: _ } = &settings.kyma;
        let gardener = tokio::fs::read_to_string(path)
            .await
            .with_context(|| format!("gardener.kubeconfig: {} cannot be read", path.display()))?;
        Ok(Self {
            gardener: gardener.into(),
            director: url.clone(),
            tokens: token_url.clone(),
            client: (client_id.clone(), client_secret.clone()),
            releases: (releases.clone(), development.clone()),
            agent_patience: settings.runtimes.agent_patience,
        })
    }

    /// Clients of those that are reached from the start.
    pub(crate) async fn reach(
        self,
        settings: &ProvisionerSettings,
        gates: &Gates,
    ) -> anyhow::Result<ProvisionerClients> {
        gates.check_kubeconfig("gardener.kubeconfig", self.gardener.expose_secret())?;
        for (setting, url) in [
            ("director.url", &self.director),
            ("director.token_url", &self.tokens),
            ("kyma.releases", &self.releases.0),
            ("kyma.development", &self.releases.1),
        ] {
            gates.check(setting, url)?;
        }
        let limits =
            CallLimits { at_once: settings.gardener.calls.get().into(), ..CallLimits::CLUSTER };
        let gate = gates.limited(Component::GARDENER, limits);
        let garden = Cluster::connect(gate, &self.gardener)
            .await
            .context("the kubeconfig of the garden cannot be used")?;
        let (client_id, client_secret) = self.client;
        let scope = "runtime:read runtime:write".to_owned();
        let grant = Grant::ClientCredentials { id: client_id, secret: client_secret, scope };
        let tokens = TokenSource::through(gates.gate(Component::ISSUER), self.tokens, grant)?;
        let director = gates.gate(Component::DIRECTOR);
        let director =
            Http::through(director, self.director)?.with_token(tokens).renewing_refused_tokens();
        Ok(ProvisionerClients {
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
        gates: &Gates,
    ) -> anyhow::Result<Env> {
        let agent_patience = self.agent_patience;
        let ProvisionerClients { gardener, director, releases: (released, development) } =
            self.reach(settings, gates).await?;
        let releases = |url| Http::through(gates.gate(Component::RELEASES), url);
        Ok(Env {
            gardener,
            director,
            clusters: clusters(&settings.runtimes, gates),
            releases: Releases::new(releases(released)?, releases(development)?),
            store,
            rules: rules(settings)?,
            audit_tenants: audit_tenants(settings)?,
            settings: steps(&settings.runtimes, agent_patience),
        })
    }
}

/// Clients of the clusters that were made.
fn clusters(settings: &Runtimes, gates: &Gates) -> Clusters {
    gates.clusters(Component::RUNTIME, NonZeroUsize::from(settings.kept_clients))
}

/// Settings of the steps.
fn steps(settings: &Runtimes, agent_patience: Duration) -> StepSettings {
    let Runtimes {
        kubeconfig_lifetime,
        kubeconfig_margin,
        bind_administrators,
        l2_group,
        l3_group,
        service_manager,
        // This is read where clients are made.
        kept_clients: _,
        // `kcp up` has its own, which depends on its speed.
        agent_patience: _,
    } = settings;
    StepSettings {
        kubeconfig_lifetime: *kubeconfig_lifetime,
        kubeconfig_margin: *kubeconfig_margin,
        bind_administrators: *bind_administrators,
        groups: Groups { looking: l2_group.clone(), acting: l3_group.clone() },
        service_manager: service_manager.clone(),
        agent_patience,
    }
}

fn audit_tenants(settings: &ProvisionerSettings) -> anyhow::Result<AuditTenants> {
    match &settings.gardener.audit_tenants {
        Some(path) => json::<AuditTenants>(path, "gardener.audit_tenants"),
        None => Ok(AuditTenants::default()),
    }
}

fn rules(settings: &ProvisionerSettings) -> anyhow::Result<Rules> {
    let settings::Gardener {
        project,
        audit_policy,
        maintenance_windows,
        // These are read where clients are made.
        kubeconfig: _,
        calls: _,
        audit_tenants: _,
    } = &settings.gardener;
    let windows = match maintenance_windows {
        Some(path) => json::<BTreeMap<String, Window>>(path, "gardener.maintenance_windows")?,
        None => BTreeMap::new(),
    };
    Ok(Rules {
        project: project.clone(),
        audit_policy_config_map: audit_policy.clone(),
        maintenance_windows: windows,
    })
}

/// Defaults for fields that requests leave out.
pub(crate) fn defaults(settings: &ProvisionerSettings) -> checking::Defaults {
    let Defaults {
        kubernetes_version,
        auto_scaler_min,
        auto_scaler_max,
        volume_size_gb,
        machine_aws,
        machine_azure,
        machine_gcp,
        machine_openstack,
        kubernetes_auto_update,
        machine_image_auto_update,
    } = &settings.defaults;
    let mut defaults = checking::Defaults {
        kubernetes_auto_update: *kubernetes_auto_update,
        machine_image_auto_update: *machine_image_auto_update,
        kyma_lite: settings.kyma.lite.iter().map(component).collect(),
        ..checking::Defaults::default()
    };
    let machines = [
        ("aws", machine_aws),
        ("azure", machine_azure),
        ("gcp", machine_gcp),
        ("openstack", machine_openstack),
    ];
    for (provider, machine) in machines {
        if let Some(machine) = machine {
            defaults.machine_types.insert(provider.into(), machine.clone());
        }
    }
    if let Some(version) = kubernetes_version {
        defaults.kubernetes_version.clone_from(version);
    }
    for (value, place) in [
        (auto_scaler_min, &mut defaults.auto_scaler_min),
        (auto_scaler_max, &mut defaults.auto_scaler_max),
        (volume_size_gb, &mut defaults.volume_size_gb),
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

#[cfg(test)]
mod effects_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ProvisionerSettings {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provisioner.toml");
        std::fs::write(&file, text).unwrap();
        settings::load(Some(&file)).unwrap()
    }

    #[test]
    fn defaults_of_the_settings_fill_what_requests_leave_out() {
        let text = "[defaults]\nkubernetes_version = \"1.99.1\"\nauto_scaler_min = 4\nauto_scaler_max = 9\n\
            volume_size_gb = 77\nmachine_aws = \"m1\"\nmachine_azure = \"m2\"\nmachine_gcp = \"m3\"\n\
            machine_openstack = \"m4\"\nkubernetes_auto_update = true\nmachine_image_auto_update = true\n";

        let found = defaults(&read(text));

        assert_eq!(found.kubernetes_version, "1.99.1");
        assert_eq!((found.auto_scaler_min, found.auto_scaler_max), (4, 9));
        assert_eq!(found.volume_size_gb, 77);
        let machines =
            ["aws", "azure", "gcp", "openstack"].map(|name| found.machine_types[name].clone());
        assert_eq!(machines, ["m1", "m2", "m3", "m4"]);
        assert!(found.kubernetes_auto_update && found.machine_image_auto_update);
        let usual = defaults(&read(""));
        assert!(!usual.kubernetes_auto_update && !usual.machine_image_auto_update);
    }

    #[test]
    fn rules_of_the_garden_come_from_the_settings() {
        let text = "[gardener]\nproject = \"theirs\"\naudit_policy = \"policy\"\n";

        let found = rules(&read(text)).unwrap();

        assert_eq!(found.project, "theirs");
        assert_eq!(found.audit_policy_config_map.as_deref(), Some("policy"));
    }

    #[tokio::test]
    async fn systems_without_tls_are_not_reached_unless_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("garden.yaml");
        std::fs::write(&kubeconfig, "clusters: []\n").unwrap();
        let base = format!("[gardener]\nkubeconfig = {kubeconfig:?}\n");
        let reached = async |more: &str| {
            let settings = read(&format!("{base}{more}"));
            let hosts = settings.transport.hosts();
            let gates = Gates::unobserved(&base::Clock::running(), hosts);
            let outside = ProvisionerAddresses::configured(&settings).await.unwrap();
            let reached = outside.reach(&settings, &gates).await;
            format!("{:#}", reached.err().unwrap())
        };

        let refused = reached("[director]\nurl = \"http://director.example.test/\"\n").await;
        assert!(refused.starts_with("director.url: http://director.example.test/"), "{refused}");
        let named = "[director]\nurl = \"http://director.example.test/\"\n\
            [transport]\nplaintext_hosts = [\"director.example.test\"]\n";
        let refused = reached(named).await;
        assert!(refused.starts_with("the kubeconfig of the garden"), "{refused}");
    }
}
