//! The environment of the steps. Systems that are not configured are absent, and the steps that need them are not in the plan.

use std::sync::Arc;

use clients::{
    Gate,
    avs::Avs,
    azure::Cloud,
    director::Director,
    edp::Edp,
    gardener::{BindingKind, Gardener},
    ias::Ias,
    kubernetes::{Cluster, Clusters},
    lifecycle_manager::LifecycleManager,
    lms::{EnabledFor, Lms},
    provisioner::{DnsProvider, Provisioner},
    reconciler::Reconciler,
    releases::ComponentLists,
    spc::Spc,
};

use secrecy::SecretString;
use store::BrokerStore;

use crate::{catalog::Catalog, creations::Creations, following::Follower};

/// The clients and settings of the steps.
pub struct Env {
    /// The broker's own rows, and with them what operations have learnt.
    pub store: BrokerStore,
    /// Plans, regions, defaults.
    pub catalog: Arc<Catalog>,
    /// The garden: the pool of accounts is in it.
    pub gardener: Gardener,
    /// The control plane's own cluster: overrides, plan configuration, Kyma resources.
    pub control_plane: Cluster,
    /// Clients of the runtimes.
    pub clusters: Clusters,
    /// Clients of the clusters that orders bring along.
    pub customer_clusters: Arc<Clusters>,
    /// The provisioner.
    pub provisioner: Provisioner,
    /// Wakes steps that wait for the provisioner; without it they only poll.
    pub follower: Option<Follower>,
    /// The components of Kyma's releases.
    pub components: ComponentLists,
    /// The registry of runtimes; asked for the dashboard's address.
    pub director: Option<Director>,
    /// Availability.
    pub avs: Option<Avs>,
    /// Event data.
    pub edp: Option<Edp>,
    /// Identities.
    pub ias: Option<Ias>,
    /// Logging; legacy.
    pub lms: Option<Logging>,
    /// Managed Kafka; legacy.
    pub event_hubs: Option<EventHubs>,
    /// The Reconciler.
    pub reconciler: Option<Reconciler>,
    /// Tells customers about maintenance.
    pub spc: Option<Spc>,
    /// The Lifecycle Manager.
    pub lifecycle_manager: Option<LifecycleManager>,
    /// Calls to `AvS` and LMS, which cannot be asked what they have made.
    pub creations: Creations,
    /// Everything else.
    pub settings: StepSettings,
}

/// Logging as a service, and who gets it.
pub struct Logging {
    /// The service.
    pub client: Lms,
    /// Which global accounts get one.
    pub enabled: EnabledFor,
    /// Whether logging is mandatory.
    pub mandatory: bool,
}

/// How Azure is reached with the credentials of an account of the pool.
pub struct EventHubs {
    /// Which cloud.
    pub cloud: Cloud,
    /// The way to it.
    pub gate: Arc<Gate>,
    /// The way to its issuer.
    pub tokens: Arc<Gate>,
    /// The garden, where the credentials are.
    pub garden: Cluster,
}

/// Credentials of the Service Manager that are not the order's own.
#[derive(Debug, Clone)]
pub struct ServiceManager {
    /// Where it is.
    pub url: String,
    /// The user.
    pub user: String,
    /// How we prove it.
    pub password: SecretString,
    /// Whether they count even when the order brings some.
    pub always: bool,
}

/// How steps work.
#[derive(Debug, Clone)]
pub struct StepSettings {
    /// The version of Kyma when nobody names one.
    pub default_kyma_version: String,
    /// Where overrides and plan configuration are.
    pub namespace: String,
    /// The `ConfigMap` that maps accounts to versions of Kyma.
    pub account_versions: Option<String>,
    /// Which objects hold the accounts of the pool.
    pub account_bindings: BindingKind,
    /// DNS providers of the clusters' domains.
    pub dns_providers: Vec<DnsProvider>,
    /// Credentials of the Service Manager; legacy; the order's own are used without.
    pub service_manager: Option<ServiceManager>,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            default_kyma_version: "2.10.0".into(),
            namespace: "kcp-system".into(),
            account_versions: Some("kyma-versions".into()),
            account_bindings: BindingKind::Secret,
            dns_providers: Vec::new(),
            service_manager: None,
        }
    }
}
