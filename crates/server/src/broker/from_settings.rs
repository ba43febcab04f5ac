//! The broker's settings in the words of its parts: the catalog, the limits, and what steps reach.

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use anyhow::{Context, ensure};
use api::Credentials;
use broker::{
    catalog::{Catalog, Files, Offer},
    creations::Creations,
    following::Follower,
    instances::{self, Broker, LegacyNeeds, SuspensionPlans, TrialNotice},
    operations::{
        Env, ProvisioningLimits, StepSettings, deprovisioning,
        env::{EventHubs, Logging, ServiceManager},
        update, upgrade_cluster, upgrade_kyma,
    },
    orchestrations::{self, source::GardenWindows},
};
use clients::{
    Component, Http,
    gardener::BindingKind,
    kubernetes::{Clusters, Network, Networks},
    provisioner::DnsProvider,
    releases::ComponentLists,
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use store::BrokerStore;
use url::Url;

use super::job_clients::JobClients;
use crate::{
    Settings,
    gates::Gates,
    settings::{
        AccessSettings,
        orders::{
            AnswerSettings, Bindings, CatalogSettings, RuntimeSettings, ServiceManagerSettings,
        },
    },
    systems::{SystemClients, SystemSettings, releases},
};

/// The shortest password that platforms may have.
const SHORTEST_PASSWORD: usize = 12;
/// How many clients of runtimes are kept.
pub(super) const CLIENTS: NonZeroUsize = NonZeroUsize::new(200).unwrap();
/// Where everybody finds releases, and what is not released yet.
const RELEASED: &str = "https://storage.googleapis.com/kyma-prow-artifacts";
const DEVELOPMENT: &str = "https://storage.googleapis.com/kyma-development-artifacts";

/// The catalog, and the part of it that is offered.
pub(crate) fn catalog(all: &Settings) -> anyhow::Result<(Arc<Catalog>, Offer)> {
    let CatalogSettings {
        folder,
        plans,
        closed,
        additional_parameters,
        on_demand_versions,
        oidc_issuer_url,
        oidc_client_id,
        customer_networks: networks,
        suspended_plans,
        expiring_plans,
        plan_changes,
    } = &all.catalog;
    let files = match folder {
        Some(folder) => Files::folder(folder).context("catalog.folder")?,
        None => Files::embedded(),
    };
    let catalog = Catalog::load(&files).context("the catalog is not valid")?;
    let catalog = catalog
        .adjusted(|defaults| {
            if let Some(issuer) = oidc_issuer_url {
                issuer.as_str().trim_end_matches('/').clone_into(&mut defaults.oidc.issuer_url);
            }
            if let Some(client) = oidc_client_id {
                defaults.oidc.client_id.clone_from(client);
            }
        })
        .context("catalog.oidc_issuer_url, catalog.oidc_client_id")?;
    let plans = if plans.is_empty() {
        catalog.plans().iter().map(|plan| plan.name().to_owned()).collect()
    } else {
        plans.clone()
    };
    let offer = Offer {
        plans,
        additional_parameters: *additional_parameters,
        closed: *closed,
        on_demand_versions: *on_demand_versions,
        plan_updateable: plan_changes.unwrap_or_default(),
        customer_networks: customer_networks(networks)?,
        bindings: all.bindings.offer(&catalog, all.requests.time)?,
        operator_access: all.bindings.operators,
        ..Offer::default()
    };
    offer.check(&catalog).context("catalog.plans")?;
    for (key, named) in [("suspended_plans", suspended_plans), ("expiring_plans", expiring_plans)] {
        let unknown = named.iter().find(|name| catalog.plan_named(name).is_none());
        ensure!(
            unknown.is_none(),
            "catalog.{key}: plan \"{}\" is not in the catalog",
            unknown.map_or("", String::as_str)
        );
    }
    Ok((Arc::new(catalog), offer))
}

/// Where clusters may be that orders bring along.
fn customer_networks(networks: &[String]) -> anyhow::Result<Networks> {
    let networks: Result<Vec<Network>, _> =
        networks.iter().map(|network| network.parse()).collect();
    Ok(Networks::new(networks.context("catalog.customer_networks")?))
}

/// How long things may take, with these systems. The awaited operation must end before the one that waits.
pub(crate) fn limits(
    settings: &Settings,
    systems: &SystemSettings,
) -> anyhow::Result<ProvisioningLimits> {
    let limits = ProvisioningLimits {
        provisioning: settings.operations.limit,
        runtime: settings.runtimes.limit,
        reconciler: settings.runtimes.reconciliation_limit,
        accounts: settings.runtimes.account_limit,
        avs: settings.runtimes.avs_limit,
        edp: settings.runtimes.edp_limit,
        edp_required: systems.edp.required.unwrap_or_default(),
    };
    let waits = limits.runtime + limits.reconciler;
    ensure!(
        waits < limits.provisioning,
        "runtimes.limit and runtimes.reconciliation_limit together must be less than operations.limit"
    );
    Ok(limits)
}

/// How long removals, and what they wait for, may take.
pub(crate) fn removal_limits(settings: &Settings) -> deprovisioning::DeprovisioningLimits {
    deprovisioning::DeprovisioningLimits {
        operation: settings.operations.limit,
        failing: settings.operations.removal_patience,
        services: settings.runtimes.service_removal_limit,
        runtime: settings.runtimes.removal_limit,
        ..deprovisioning::DeprovisioningLimits::default()
    }
}

/// How long changes, and what they wait for, may take.
pub(crate) fn update_limits(settings: &Settings) -> update::UpdateLimits {
    update::UpdateLimits {
        operation: settings.operations.limit,
        runtime: settings.runtimes.update_limit,
        reconciler: settings.runtimes.reconciliation_limit,
    }
}

/// How long upgrades of Kyma, and what they wait for, may take.
pub(crate) fn kyma_limits(settings: &Settings) -> upgrade_kyma::UpgradeKymaLimits {
    upgrade_kyma::UpgradeKymaLimits {
        operation: settings.operations.kyma_upgrade_limit,
        reconciler: settings.runtimes.reconciliation_limit,
    }
}

/// How long upgrades of clusters, and what they wait for, may take.
pub(crate) fn cluster_limits(settings: &Settings) -> upgrade_cluster::UpgradeClusterLimits {
    upgrade_cluster::UpgradeClusterLimits {
        operation: settings.operations.cluster_upgrade_limit,
        runtime: settings.runtimes.upgrade_limit,
    }
}

/// Namespace and name of the maintenance policy.
pub(super) fn maintenance_policy(settings: &RuntimeSettings) -> (String, String) {
    (settings.overrides_namespace.clone(), settings.maintenance_policy.clone())
}

/// Builds the orchestrations.
pub(super) fn orchestrations(
    broker: Broker,
    env: &Arc<Env>,
    settings: &RuntimeSettings,
) -> orchestrations::OrchestrationEnv {
    let (namespace, name) = maintenance_policy(settings);
    orchestrations::OrchestrationEnv {
        broker,
        windows: Arc::new(GardenWindows {
            gardener: env.gardener.clone(),
            control_plane: env.control_plane.clone(),
            namespace,
            name,
        }),
        spc: env.spc.clone(),
        kyma_version: env.settings.default_kyma_version.clone(),
        versions: Some(env.components.clone()),
        followers: orchestrations::Followers::default(),
    }
}

/// Settings of responses to owners.
pub(super) fn answers(settings: &Settings) -> instances::Settings {
    let AnswerSettings { dashboard, address, trial_documentation, assume_async: _ } =
        &settings.answers;
    let notice = |documentation: String| TrialNotice { subaccounts: None, documentation };
    instances::Settings {
        dashboard: dashboard.clone(),
        shoot_domain: settings.runtimes.shoot_domain.clone(),
        kubeconfig_label: address.clone(),
        trial_notice: trial_documentation.clone().map(notice),
        legacy: settings
            .runtimes
            .legacy
            .then(|| LegacyNeeds { service_manager: settings.service_manager.url.is_none() }),
        suspension: SuspensionPlans {
            suspended: settings.catalog.suspended_plans.clone(),
            expiring: settings.catalog.expiring_plans.clone(),
        },
    }
}

/// The platforms that know nothing but Basic authentication.
pub(super) fn platforms(access: &AccessSettings) -> anyhow::Result<Vec<Credentials>> {
    let AccessSettings {
        issuers: _,
        audience: _,
        peers: _,
        platform_user,
        platform_password,
        platform_tenant,
    } = access;
    let tenant = platform_tenant.clone();
    ensure!(tenant.as_deref() != Some(""), "access.platform_tenant is empty");
    match (platform_user.clone(), platform_password.clone()) {
        (Some(user), Some(password)) => {
            let length = password.expose_secret().chars().count();
            ensure!(
                length >= SHORTEST_PASSWORD,
                "access.platform_password has {length} characters; {SHORTEST_PASSWORD} are needed"
            );
            Ok(vec![Credentials { user, password, tenant }])
        }
        (None, None) => Ok(Vec::new()),
        _ => anyhow::bail!("access.platform_user and access.platform_password belong together"),
    }
}

/// Clients of the clusters that orders bring along.
pub(super) fn customer_clusters(settings: &Settings, gates: &Gates) -> anyhow::Result<Clusters> {
    let networks = customer_networks(&settings.catalog.customer_networks)?;
    Ok(gates.clusters(Component::RUNTIME, CLIENTS).of_customers(networks))
}

/// The environment of the steps.
pub(super) fn env(
    settings: &Settings,
    systems: SystemClients,
    catalog: Arc<Catalog>,
    store: &BrokerStore,
    gates: &Gates,
) -> anyhow::Result<(Env, JobClients)> {
    let cleaned = JobClients::new(systems.cis, systems.aws, systems.azure.clone(), gates);
    let needed = |section: &str| format!("the broker cannot work without systems.{section}");
    let gardener = systems.gardener.with_context(|| needed("gardener"))?;
    let event_hubs = systems.azure.filter(|_| settings.runtimes.legacy).map(|cloud| EventHubs {
        cloud,
        gate: gates.gate(clients::azure::COMPONENT),
        tokens: gates.gate(Component::ISSUER),
        garden: gardener.cluster().clone(),
    });
    let releases = match systems.releases {
        Some(releases) => releases,
        None => releases::Client { released: RELEASED.parse()?, development: DEVELOPMENT.parse()? },
    };
    let from = |url: Url| Http::through(gates.gate(Component::RELEASES), url);
    let provisioner = systems.provisioner.with_context(|| needed("provisioner"))?;
    let env = Env {
        store: store.clone(),
        catalog,
        gardener,
        control_plane: systems.control_plane.with_context(|| needed("control_plane"))?,
        clusters: gates.clusters(Component::RUNTIME, CLIENTS),
        customer_clusters: Arc::new(customer_clusters(settings, gates)?),
        follower: Some(Follower::new(
            provisioner.clone(),
            store.engine().clone(),
            gates.clock().clone(),
        )),
        provisioner,
        components: ComponentLists::new(from(releases.released)?, from(releases.development)?),
        director: systems.director,
        avs: systems.avs,
        edp: systems.edp,
        ias: systems.ias,
        lms: systems.lms.filter(|_| settings.runtimes.legacy).map(|logging| Logging {
            client: logging.client,
            enabled: logging.enabled,
            mandatory: logging.mandatory,
        }),
        event_hubs,
        reconciler: systems.reconciler,
        spc: systems.spc,
        lifecycle_manager: systems.lifecycle_manager,
        creations: Creations::new(store.clone(), gates.clock().clone()),
        settings: steps(&settings.runtimes, &settings.service_manager)?,
    };
    Ok((env, cleaned))
}

/// Settings of the steps.
pub(super) fn steps(
    runtimes: &RuntimeSettings,
    service_manager: &ServiceManagerSettings,
) -> anyhow::Result<StepSettings> {
    let RuntimeSettings {
        // These are read where plans and answers are made.
        legacy: _,
        limit: _,
        update_limit: _,
        upgrade_limit: _,
        removal_limit: _,
        reconciliation_limit: _,
        account_limit: _,
        avs_limit: _,
        edp_limit: _,
        service_removal_limit: _,
        shoot_domain: _,
        kyma_version,
        account_versions,
        overrides_namespace,
        maintenance_policy: _,
        account_bindings,
        dns_providers,
    } = runtimes;
    Ok(StepSettings {
        default_kyma_version: kyma_version.clone(),
        namespace: overrides_namespace.clone(),
        account_versions: Some(account_versions.clone()),
        account_bindings: match account_bindings {
            Bindings::Secret => BindingKind::Secret,
            Bindings::Credentials => BindingKind::Credentials,
        },
        dns_providers: self::dns_providers(dns_providers.as_deref())?,
        service_manager: self::service_manager(service_manager)?,
    })
}

fn service_manager(settings: &ServiceManagerSettings) -> anyhow::Result<Option<ServiceManager>> {
    let ServiceManagerSettings { url, user, password, always } = settings;
    match (url.clone(), user.clone(), password.clone()) {
        (Some(url), Some(user), Some(password)) => {
            Ok(Some(ServiceManager { url, user, password, always: *always }))
        }
        (None, None, None) => Ok(None),
        _ => anyhow::bail!(
            "service_manager.url, service_manager.user and service_manager.password belong together"
        ),
    }
}

/// A DNS provider, as the file has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DnsProviderEntry {
    domains_include: Vec<String>,
    #[serde(default)]
    primary: bool,
    secret_name: String,
    #[serde(rename = "type")]
    kind: String,
}

fn dns_providers(path: Option<&Path>) -> anyhow::Result<Vec<DnsProvider>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let shown = format!("runtimes.dns_providers: {}", path.display());
    let text = std::fs::read_to_string(path).with_context(|| format!("{shown} cannot be read"))?;
    let all: Vec<DnsProviderEntry> =
        serde_json::from_str(&text).with_context(|| format!("{shown} is not what it should be"))?;
    let provider = |served: DnsProviderEntry| DnsProvider {
        domains_include: served.domains_include,
        primary: served.primary,
        secret_name: served.secret_name,
        kind: served.kind,
    };
    Ok(all.into_iter().map(provider).collect())
}
