//! Rules for the fields of a cluster.

use super::{dns, must, names, networks, providers, version};
use crate::{Error, configuration::Cluster, requests, shoots::networks::Network};

const PURPOSES: &[&str] = &["evaluation", "testing", "development", "production"];
const TOLERANCES: &[&str] = &["node", "zone"];
/// As long as a licence's name may be.
const LICENCE: usize = 256;

/// The length of the network that Gardener gives to the pods of one node, of which there are 110 at most.
const NODE: u8 = 24;

/// The texts that clients of the reference know.
const KNOWN: &str = "Cluster config validation error while starting Runtime provisioning, error: ";
/// Images have names; a version alone says nothing.
pub(super) const IMAGE: &str = "Machine Image Version passed while Machine Image is empty";
/// Its disks come with the machine type.
pub(super) const NO_DISKS: &str =
    "OpenStack mutation does not accept diskType or volumeSizeGb parameters";

/// The rules that the reference has, in its order and words.
pub(super) fn known_rules(asked: &requests::Cluster) -> Result<(), Error> {
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    if given(&asked.machine_image_version) && !given(&asked.machine_image) {
        return Err(Error::bad(format!("{KNOWN}{IMAGE}")));
    }
    let disks = asked.disk_type.is_some() || asked.volume_size_gb.is_some();
    if asked.provider.eq_ignore_ascii_case("openstack") && disks {
        return Err(Error::bad(format!("{KNOWN}{NO_DISKS}")));
    }
    Ok(())
}

/// All rules for a cluster's values but those of its issuer; `at` is where its fields are in the request.
pub(super) fn check(cluster: &Cluster, at: &str) -> Result<(), Error> {
    names::shoot_label(&cluster.name, &format!("{at}.name"))?;
    texts(cluster, at)?;
    version::parsed(&cluster.kubernetes_version, &format!("{at}.kubernetesVersion"))?;
    sizes(cluster, at)?;
    choices(cluster, at)?;
    providers::check(cluster, &format!("{at}.providerSpecificConfig"))?;
    networks::check(cluster, at)?;
    if let Some(dns) = &cluster.dns {
        dns::check(dns, &format!("{at}.dnsConfig"))?;
    }
    Ok(())
}

fn texts(cluster: &Cluster, at: &str) -> Result<(), Error> {
    let texts = [
        ("targetSecret", &cluster.target_secret),
        ("region", &cluster.region),
        ("machineType", &cluster.machine_type),
    ];
    for (name, text) in texts {
        must(!text.trim().is_empty(), format_args!("{at}.{name}"), "must not be empty")?;
    }
    let Some(disk) = &cluster.disk_type else { return Ok(()) };
    must(!disk.trim().is_empty(), format_args!("{at}.diskType"), "must not be empty")
}

fn sizes(cluster: &Cluster, at: &str) -> Result<(), Error> {
    let (min, max) = (cluster.auto_scaler_min, cluster.auto_scaler_max);
    must(min >= 1, format_args!("{at}.autoScalerMin"), "must be at least 1")?;
    must(
        min <= max,
        format_args!("{at}.autoScalerMax"),
        format_args!("must be at least autoScalerMin: {max} is less than {min}"),
    )?;
    let (more, fewer) = (cluster.max_surge, cluster.max_unavailable);
    must(more >= 0, format_args!("{at}.maxSurge"), "must not be negative")?;
    must(fewer >= 0, format_args!("{at}.maxUnavailable"), "must not be negative")?;
    must(
        more > 0 || fewer > 0,
        format_args!("{at}.maxSurge"),
        "and maxUnavailable must not both be 0: no node could ever be replaced",
    )?;
    let size = cluster.volume_size_gb;
    must(size.is_none_or(|size| size >= 1), format_args!("{at}.volumeSizeGB"), "must be at least 1")
}

/// Whether all nodes that there may be have a place. A cluster that has more of them from before is left alone: what
/// is in the way of a change is for Gardener to say.
pub(super) fn room(cluster: &Cluster, at: &str) -> Result<(), Error> {
    let most = cluster.auto_scaler_max;
    let zones = cluster.provider_config.zones();
    must(
        usize::try_from(most).is_ok_and(|most| most >= zones),
        format_args!("{at}.autoScalerMax"),
        format_args!("must be at least the number of zones: {most} is less than {zones}"),
    )?;
    let pods = cluster.pods_cidr.as_deref().and_then(|cidr| cidr.parse::<Network>().ok());
    let Some(pods) = pods else { return Ok(()) };
    let nodes = pods.parts(NODE);
    must(
        u32::try_from(most).is_ok_and(|most| most <= nodes),
        format_args!("{at}.podsCidr"),
        format_args!(
            "{pods} is too small for autoScalerMax: with a /{NODE} for the pods of each node there is room for {nodes} \
             nodes, not for {most}"
        ),
    )
}

fn choices(cluster: &Cluster, at: &str) -> Result<(), Error> {
    one_of(cluster.purpose.as_deref(), PURPOSES, &format!("{at}.purpose"))?;
    one_of(
        cluster.control_plane_failure_tolerance.as_deref(),
        TOLERANCES,
        &format!("{at}.controlPlaneFailureTolerance"),
    )?;
    let licence = cluster.licence_type.as_deref().unwrap_or_default();
    must(
        licence.len() <= LICENCE && !licence.contains(char::is_control),
        format_args!("{at}.licenceType"),
        format_args!("must be at most {LICENCE} characters that can be read"),
    )
}

fn one_of(value: Option<&str>, known: &[&str], path: &str) -> Result<(), Error> {
    let Some(value) = value else { return Ok(()) };
    let rule = format_args!("must be one of {}, not {value:?}", known.join(", "));
    must(known.contains(&value), path, rule)
}
