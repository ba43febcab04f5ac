//! Requests are checked here, completely, before anything is written or anybody is called.
//!
//! What a reader would get wrong: the first rule that is broken answers, so the order counts. Rules that
//! clients of the reference know come first, in its order and its words.

mod cluster;
mod dns;
mod kyma;
mod names;
mod networks;
mod oidc;
mod providers;
#[cfg(test)]
pub(crate) mod tests;
mod upgrade;
mod upgrade_provider;
mod version;

use std::{collections::BTreeMap, fmt::Display};

pub use self::{
    kyma::kyma, names::shoot_name, upgrade::upgrade_shoot, version::kubernetes_version,
};
use crate::{
    Error,
    configuration::{self, Cluster, Configuration, DirectorEntry},
    requests,
};

/// Values for what a request leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// The version of Kubernetes.
    pub kubernetes_version: String,
    /// Machines, by provider.
    pub machine_types: BTreeMap<String, String>,
    /// Kinds of disk, by provider; `openstack` has none.
    pub disk_types: BTreeMap<String, String>,
    /// The size of a disk.
    pub volume_size_gb: i32,
    /// How many nodes at least.
    pub auto_scaler_min: i32,
    /// How many nodes at most.
    pub auto_scaler_max: i32,
    /// How many nodes more while nodes are replaced.
    pub max_surge: i32,
    /// How many nodes fewer while nodes are replaced.
    pub max_unavailable: i32,
    /// Whether Gardener may raise the version of Kubernetes by itself.
    pub kubernetes_auto_update: bool,
    /// Whether Gardener may raise the version of the machine image by itself.
    pub machine_image_auto_update: bool,
    /// Where public addresses come from in `OpenStack`.
    pub floating_pool_name: String,
    /// The cloud profile of `OpenStack`.
    pub cloud_profile_name: String,
    /// Components that are installed by default.
    pub kyma_lite: Vec<configuration::Component>,
}

impl Default for Defaults {
    fn default() -> Self {
        let words = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
        };
        Self {
            kubernetes_version: "1.32.4".into(),
            machine_types: words(&[
                ("aws", "m5.xlarge"),
                ("azure", "Standard_D4_v3"),
                ("gcp", "n2-standard-4"),
                ("openstack", "g_c4_m16"),
            ]),
            disk_types: words(&[("aws", "gp3"), ("azure", "Standard_LRS"), ("gcp", "pd-standard")]),
            volume_size_gb: 50,
            auto_scaler_min: 3,
            auto_scaler_max: 20,
            max_surge: 1,
            max_unavailable: 0,
            kubernetes_auto_update: false,
            machine_image_auto_update: false,
            floating_pool_name: "FloatingIP-external-kyma-01".into(),
            cloud_profile_name: "converged-cloud-kyma".into(),
            kyma_lite: kyma::lite(),
        }
    }
}

/// Where the fields of a cluster are in a request.
#[derive(Debug, Clone, Copy)]
struct FieldPaths {
    cluster: &'static str,
    administrators: &'static str,
}

/// In the request for a new runtime.
const NEW: FieldPaths = FieldPaths {
    cluster: "clusterConfig.gardenerConfig",
    administrators: "clusterConfig.administrators",
};

/// The configuration of a new runtime, with every default filled in.
pub fn provision(
    request: requests::Provision,
    defaults: &Defaults,
) -> Result<Configuration, Error> {
    let kyma = request.kyma.map(|asked| kyma(asked, defaults, kyma::PROVISIONING)).transpose()?;
    cluster::known_rules(&request.cluster)?;
    names::runtime_name(&request.name)?;
    let configuration = Configuration {
        entry: DirectorEntry {
            name: request.name,
            description: request.description,
            labels: request.labels,
        },
        cluster: filled_in(request.cluster, defaults)?,
        administrators: names::each_once(request.administrators),
        kyma,
    };
    check(&configuration, None, NEW)?;
    cluster::room(&configuration.cluster, NEW.cluster)?;
    Ok(configuration)
}

/// The rules for values, the same for new runtimes and for changed ones. `stored`: the cluster before the change.
fn check(
    configuration: &Configuration,
    stored: Option<&Cluster>,
    place: FieldPaths,
) -> Result<(), Error> {
    let cluster = &configuration.cluster;
    cluster::check(cluster, place.cluster)?;
    if let Some(oidc) = &cluster.oidc {
        let stored = stored.and_then(|stored| stored.oidc.as_ref());
        oidc::check(oidc, stored, &format!("{}.oidcConfig", place.cluster))?;
    }
    names::administrators(&configuration.administrators, place.administrators)
}

fn filled_in(asked: requests::Cluster, defaults: &Defaults) -> Result<Cluster, Error> {
    let at = NEW.cluster;
    let provider_config = providers::chosen(asked.provider_config, defaults, at)?;
    let kind = provider_config.kind();
    if !asked.provider.eq_ignore_ascii_case(kind) {
        let member = providers::member(kind);
        let rule =
            format!("{:?} does not agree with providerSpecificConfig.{member}", asked.provider);
        return Err(refused(format_args!("{at}.provider"), rule));
    }
    let of = |words: &BTreeMap<String, String>| words.get(kind).cloned();
    let has_disks = kind != "openstack";
    Ok(Cluster {
        name: asked.name,
        kubernetes_version: asked.kubernetes_version.unwrap_or(defaults.kubernetes_version.clone()),
        provider: kind.into(),
        target_secret: asked.target_secret,
        region: asked.region,
        machine_type: asked.machine_type.or(of(&defaults.machine_types)).unwrap_or_default(),
        machine_image: some(asked.machine_image),
        machine_image_version: some(asked.machine_image_version),
        disk_type: asked.disk_type.or(of(&defaults.disk_types)).filter(|_| has_disks),
        volume_size_gb: asked.volume_size_gb.or(has_disks.then_some(defaults.volume_size_gb)),
        worker_cidr: asked.worker_cidr,
        pods_cidr: some(asked.pods_cidr),
        services_cidr: some(asked.services_cidr),
        auto_scaler_min: asked.auto_scaler_min.unwrap_or(defaults.auto_scaler_min),
        auto_scaler_max: asked.auto_scaler_max.unwrap_or(defaults.auto_scaler_max),
        max_surge: asked.max_surge.unwrap_or(defaults.max_surge),
        max_unavailable: asked.max_unavailable.unwrap_or(defaults.max_unavailable),
        purpose: some(asked.purpose),
        licence_type: asked.licence_type,
        kubernetes_auto_update: asked
            .kubernetes_auto_update
            .unwrap_or(defaults.kubernetes_auto_update),
        machine_image_auto_update: asked
            .machine_image_auto_update
            .unwrap_or(defaults.machine_image_auto_update),
        provider_config,
        dns: asked.dns,
        seed: some(asked.seed),
        oidc: asked.oidc,
        exposure_class_name: some(asked.exposure_class_name),
        networking_filter_disabled: asked.networking_filter_disabled.unwrap_or(true),
        control_plane_failure_tolerance: some(asked.control_plane_failure_tolerance),
        eu_access: asked.eu_access.unwrap_or(false),
    })
}

/// An empty text says as little as none.
fn some(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// The caller must ask for something else: which field, and which rule it breaks.
fn refused(path: impl Display, rule: impl Display) -> Error {
    Error::bad(format!("{path} {rule}"))
}

/// A rule for one field.
fn must(holds: bool, path: impl Display, rule: impl Display) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(refused(path, rule)) }
}
