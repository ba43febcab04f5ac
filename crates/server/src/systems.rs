//! The broker's outside systems: clients of those that the settings name, each behind a gate of its own.

mod build;
mod check;
mod documented;
mod garden;

use clients::{
    avs::Avs,
    aws::Market,
    azure::Cloud,
    cis::{Accounts, Entitlements, Events},
    director::Director,
    edp::Edp,
    gardener::Gardener,
    ias::Ias,
    kubernetes::Cluster,
    lifecycle_manager::LifecycleManager,
    lms::{EnabledFor, Lms},
    provisioner::Provisioner,
    reconciler::Reconciler,
    spc::Spc,
};
use url::Url;

pub use self::{
    check::{Checked, provisioner as check_provisioner},
    documented::{ALL, table},
};

/// Clients of the systems that are configured.
#[derive(Debug, Default)]
pub struct Systems {
    /// Whoever makes the clusters.
    pub gardener: Option<Gardener>,
    /// The cluster that the control plane lives in.
    pub control_plane: Option<Cluster>,
    /// Whoever keeps the modules of runtimes.
    pub lifecycle_manager: Option<LifecycleManager>,
    /// Whoever makes runtimes.
    pub provisioner: Option<Provisioner>,
    /// The registry of runtimes.
    pub director: Option<Director>,
    /// Where releases of Kyma are, if not where everybody finds them.
    pub releases: Option<Releases>,
    /// Whoever installs Kyma and keeps it.
    pub reconciler: Option<Reconciler>,
    /// The availability service.
    pub avs: Option<Avs>,
    /// The event data platform.
    pub edp: Option<Edp>,
    /// The identity authentication service.
    pub ias: Option<Ias>,
    /// The logging service.
    pub lms: Option<Logging>,
    /// Whoever tells customers about maintenance.
    pub spc: Option<Spc>,
    /// What happened to subaccounts.
    pub events: Option<Events>,
    /// What subaccounts are.
    pub accounts: Option<Accounts>,
    /// How many instances subaccounts may have.
    pub entitlements: Option<Entitlements>,
    /// Where Amazon is. Its clients are made with the credentials of the pool.
    pub aws: Option<Amazon>,
    /// Where Azure is, likewise.
    pub azure: Option<Cloud>,
}

/// The logging service, and who gets it.
#[derive(Debug)]
pub struct Logging {
    /// The client.
    pub client: Lms,
    /// Which global accounts get a tenant.
    pub enabled: EnabledFor,
    /// Whether an instance must not do without.
    pub mandatory: bool,
}

/// Where releases of Kyma are.
#[derive(Debug, Clone)]
pub struct Releases {
    /// Below this address are the releases.
    pub released: Url,
    /// Below this address is what is not released yet.
    pub development: Url,
}

/// Where Amazon is.
#[derive(Debug)]
pub struct Amazon {
    /// The one address of all regions; Amazon's own if there is none.
    pub endpoint: Option<Url>,
    /// Whose accounts.
    pub market: Market,
}
