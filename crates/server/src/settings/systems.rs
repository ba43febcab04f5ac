//! Where the broker's outside systems are, and who we are there. Whoever is not named is not called.
//!
//! What a reader would get wrong: nothing here has a default. A section counts as soon as one value of it is given,
//! and then what is missing is a mistake.

pub mod sections;

use confique::Config;
use url::Url;

pub use sections::{
    AvsSection, AwsSection, AzureSection, CisAccountsSection, CisEntitlementsSection,
    CisEventsSection, ControlPlaneSection, DirectorSection, EdpSection, GardenerSection,
    IasSection, LifecycleManagerSection, LmsSection, ProvisionerSection, ReconcilerSection,
    ReleasesSection, SpcSection,
};

/// The outside systems. A section of which nothing is given is a system that is not called.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct SystemSettings {
    /// Whoever makes the clusters, and keeps the pool of accounts.
    #[config(nested)]
    pub gardener: GardenerSection,
    /// The cluster that the control plane lives in.
    #[config(nested)]
    pub control_plane: ControlPlaneSection,
    /// Whoever keeps the modules of runtimes; works in the control plane's cluster.
    #[config(nested)]
    pub lifecycle_manager: LifecycleManagerSection,
    /// Whoever makes runtimes.
    #[config(nested)]
    pub provisioner: ProvisionerSection,
    /// The registry of runtimes.
    #[config(nested)]
    pub director: DirectorSection,
    /// Where releases of Kyma are; the public ones if nothing is said.
    #[config(nested)]
    pub releases: ReleasesSection,
    /// Whoever installs Kyma and keeps it.
    #[config(nested)]
    pub reconciler: ReconcilerSection,
    /// The availability service.
    #[config(nested)]
    pub avs: AvsSection,
    /// The event data platform.
    #[config(nested)]
    pub edp: EdpSection,
    /// The identity authentication service.
    #[config(nested)]
    pub ias: IasSection,
    /// The logging service.
    #[config(nested)]
    pub lms: LmsSection,
    /// Whoever tells customers about maintenance.
    #[config(nested)]
    pub spc: SpcSection,
    /// The central services for accounts.
    #[config(nested)]
    pub cis: CisSection,
    /// Amazon. Credentials come from the pool.
    #[config(nested)]
    pub aws: AwsSection,
    /// Azure. Credentials come from the pool.
    #[config(nested)]
    pub azure: AzureSection,
}

/// The central services for accounts.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct CisSection {
    /// What happened to subaccounts.
    #[config(nested)]
    pub events: CisEventsSection,
    /// What subaccounts are.
    #[config(nested)]
    pub accounts: CisAccountsSection,
    /// How many instances subaccounts may have.
    #[config(nested)]
    pub entitlements: CisEntitlementsSection,
}

impl SystemSettings {
    /// All addresses, with the names of their settings.
    pub(crate) fn addresses(&self) -> Vec<(String, &Url)> {
        let Self {
            gardener,
            control_plane,
            lifecycle_manager,
            provisioner,
            director,
            releases,
            reconciler,
            avs,
            edp,
            ias,
            lms,
            spc,
            cis: CisSection { events, accounts, entitlements },
            aws,
            azure,
        } = self;
        let sections = [
            ("gardener", gardener.addresses()),
            ("control_plane", control_plane.addresses()),
            ("lifecycle_manager", lifecycle_manager.addresses()),
            ("provisioner", provisioner.addresses()),
            ("director", director.addresses()),
            ("releases", releases.addresses()),
            ("reconciler", reconciler.addresses()),
            ("avs", avs.addresses()),
            ("edp", edp.addresses()),
            ("ias", ias.addresses()),
            ("lms", lms.addresses()),
            ("spc", spc.addresses()),
            ("cis.events", events.addresses()),
            ("cis.accounts", accounts.addresses()),
            ("cis.entitlements", entitlements.addresses()),
            ("aws", aws.addresses()),
            ("azure", azure.addresses()),
        ];
        let named = |(section, urls): (&'static str, Vec<(&'static str, _)>)| {
            urls.into_iter().map(move |(key, url)| (format!("systems.{section}.{key}"), url))
        };
        sections.into_iter().flat_map(named).collect()
    }
}
