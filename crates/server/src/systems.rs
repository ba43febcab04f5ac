//! The broker's outside systems: one file each, with its settings, its client, its check and its description.
//!
//! To add one: its file, and its line in the list below (and the `mod` line).

mod about;
pub mod avs;
pub mod aws;
pub mod azure;
mod check;
pub mod cis;
pub mod control_plane;
pub mod director;
mod documented;
pub mod edp;
mod garden;
pub mod gardener;
pub mod ias;
pub mod lifecycle_manager;
pub mod lms;
mod opening;
mod others;
pub mod provisioner;
pub mod reconciler;
pub mod releases;
mod section;
pub mod spc;

use confique::Config;

pub(crate) use self::section::Section;
pub use self::{
    about::{About, Usage},
    check::{CheckResult, provisioner as check_provisioner},
    documented::table,
};
use self::{check::Check, opening::ClientBuilder};
use crate::gates::Gates;

/// Makes settings, clients, checks and descriptions of a list of systems. A module of that name has `Section`, `Client`,
/// `ABOUT`, `open` and `checks`. Clusters are opened first: a service may work in one.
macro_rules! systems {
    (
        clusters { $($(#[doc = $about_cluster:literal])* $cluster:ident,)* }
        services { $($(#[doc = $about:literal])* $service:ident,)* }
        others { $($other:ident,)* }
    ) => {
        /// The outside systems. An empty section leaves the system out.
        #[derive(Debug, Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct SystemSettings {
            $($(#[doc = $about_cluster])* #[config(nested)] pub $cluster: $cluster::Section,)*
            $($(#[doc = $about])* #[config(nested)] pub $service: $service::Section,)*
        }

        /// Clients of the systems that are configured.
        #[derive(Debug, Default)]
        pub struct SystemClients {
            $($(#[doc = $about_cluster])* pub $cluster: Option<$cluster::Client>,)*
            $($(#[doc = $about])* pub $service: Option<$service::Client>,)*
        }

        /// All systems, as the documents describe them.
        pub const ALL: &[About] =
            &[$(others::$other,)* $($cluster::ABOUT,)* $($service::ABOUT,)*];

        impl SystemClients {
            /// Clients of all systems that `settings` name. Nothing is called yet.
            pub async fn open(settings: &SystemSettings, gates: &Gates) -> anyhow::Result<Self> {
                let SystemSettings { $($cluster,)* $($service,)* } = settings;
                $(check_addresses(gates, stringify!($cluster), $cluster)?;)*
                $(check_addresses(gates, stringify!($service), $service)?;)*
                let mut systems = Self::default();
                $(if $cluster.is_given() {
                    let section = stringify!($cluster);
                    let opening = ClientBuilder { section, gates, opened: &systems };
                    systems.$cluster = Some($cluster::open($cluster, &opening).await?);
                })*
                $(if $service.is_given() {
                    let section = stringify!($service);
                    let opening = ClientBuilder { section, gates, opened: &systems };
                    systems.$service = Some($service::open($service, &opening)?);
                })*
                Ok(systems)
            }

            /// A check of each.
            fn checks(&self) -> Vec<(About, Check<'_>)> {
                let Self { $($cluster,)* $($service,)* } = self;
                let mut checks = Vec::new();
                $(if let Some(client) = $cluster {
                    let all = $cluster::checks(client).into_iter();
                    checks.extend(all.map(|check| ($cluster::ABOUT, check)));
                })*
                $(if let Some(client) = $service {
                    let all = $service::checks(client).into_iter();
                    checks.extend(all.map(|check| ($service::ABOUT, check)));
                })*
                checks
            }
        }
    };
}

systems! {
    clusters {
        /// Gardener, which makes the clusters and keeps the pool of accounts.
        gardener,
        /// The cluster that the control plane runs in.
        control_plane,
    }
    services {
        /// The Lifecycle Manager, which keeps the modules of runtimes; works in the control plane's cluster.
        lifecycle_manager,
        /// The provisioner, which makes runtimes.
        provisioner,
        /// The Director, the registry of runtimes.
        director,
        /// Releases of Kyma. Default: the public ones.
        releases,
        /// The Reconciler, which installs Kyma and keeps it as configured.
        reconciler,
        /// The availability service.
        avs,
        /// The event data platform.
        edp,
        /// The identity authentication service.
        ias,
        /// The logging service.
        lms,
        /// SPC, which tells customers about maintenance.
        spc,
        /// The central services for accounts.
        cis,
        /// Amazon. Credentials come from the pool.
        aws,
        /// Azure. Credentials come from the pool.
        azure,
    }
    others { ISSUER, RUNTIME, BTP_OPERATOR, }
}

/// Refuses addresses that would be called without TLS.
fn check_addresses(gates: &Gates, section: &str, settings: &impl Section) -> anyhow::Result<()> {
    for (key, url) in settings.addresses() {
        gates.check(&format!("systems.{section}.{key}"), url)?;
    }
    Ok(())
}
