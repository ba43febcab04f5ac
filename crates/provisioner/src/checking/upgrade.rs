//! Checks an upgradeShoot request, and computes the new configuration.
//!
//! What a reader would get wrong: what is absent stays, except for administrators, of whom anyone who is not named
//! is none afterwards. What cannot be changed may still be named, as long as it is what there is. Versions only go up:
//! clients name theirs with every change, so a lower one is no mistake, and the higher one stays.

use clients::gardener::Shoot;

use super::{FieldPaths, check, cluster, names, refused, some, upgrade_provider, version};
use crate::{
    Error,
    configuration::{Cluster, Configuration, Provider},
    requests::UpgradeShoot,
    shoots::{self, networks::Network},
};

/// In the request for other settings.
const PLACE: FieldPaths =
    FieldPaths { cluster: "gardenerConfig", administrators: "administrators" };

/// The configuration after upgradeShoot, or why it cannot be. `live` is the Shoot as it is now, when there is
/// one: Gardener may have raised versions by itself.
pub fn upgrade_shoot(
    stored: &Configuration,
    live: Option<&Shoot>,
    request: UpgradeShoot,
) -> Result<Configuration, Error> {
    nothing_empty(&request)?;
    let now = &stored.cluster;
    let disks = request.disk_type.is_some() || request.volume_size_gb.is_some();
    if now.provider_config.kind() == "openstack" && disks {
        return Err(Error::bad(cluster::NO_DISKS));
    }
    has_pool(live)?;
    nothing_fixed(now, &request)?;
    let configuration = Configuration {
        entry: stored.entry.clone(),
        kyma: stored.kyma.clone(),
        administrators: names::each_once(request.administrators.clone()),
        cluster: merged(now, live, request)?,
    };
    check(&configuration, Some(now), PLACE)?;
    let nodes = |cluster: &Cluster| (cluster.auto_scaler_max, cluster.provider_config.zones());
    if nodes(&configuration.cluster) != nodes(now) {
        cluster::room(&configuration.cluster, PLACE.cluster)?;
    }
    Ok(configuration)
}

/// In the order and words of the reference.
fn nothing_empty(request: &UpgradeShoot) -> Result<(), Error> {
    let texts = [
        (&request.machine_type, "machine type"),
        (&request.kubernetes_version, "kubernetes version"),
        (&request.disk_type, "disk type"),
        (&request.purpose, "purpose"),
    ];
    match texts.into_iter().find(|(text, _)| text.as_deref() == Some("")) {
        Some((_, name)) => Err(Error::bad(format!("empty {name} provided"))),
        None => Ok(()),
    }
}

fn has_pool(live: Option<&Shoot>) -> Result<(), Error> {
    match live {
        Some(shoot) if pool(shoot).is_none() => {
            let name = shoot.name();
            Err(Error::internal(format!("no worker groups assigned to Gardener shoot '{name}'")))
        }
        _ => Ok(()),
    }
}

/// Rejects changes of fields that gardens do not change in an existing cluster. Newer Gardeners by themselves take another
/// network of the nodes; those of 1.65 and the extensions of the providers do not.
fn nothing_fixed(now: &Cluster, request: &UpgradeShoot) -> Result<(), Error> {
    let grows = |wanted: &&str| {
        let networks = wanted.parse::<Network>().ok().zip(now.worker_cidr.parse().ok());
        networks.is_some_and(|(wanted, now): (Network, Network)| wanted.contains(now))
    };
    let on_gcp = matches!(now.provider_config, Provider::Gcp(_));
    let fixed = [
        (
            "targetSecret",
            request.target_secret.as_deref(),
            Some(now.target_secret.as_str()),
            "a cluster stays in the account it was made in",
        ),
        (
            "workerCidr",
            request.worker_cidr.as_deref().filter(|wanted| !(on_gcp && grows(wanted))),
            Some(now.worker_cidr.as_str()),
            "Gardener 1.65 and the extensions of the providers refuse it",
        ),
        (
            "exposureClassName",
            request.exposure_class_name.as_deref().filter(|name| !name.is_empty()),
            now.exposure_class_name.as_deref(),
            "Gardener treats it as immutable",
        ),
    ];
    for (name, wanted, now, why) in fixed {
        if wanted.is_some() && wanted != now {
            let (now, wanted) = (now.unwrap_or_default(), wanted.unwrap_or_default());
            let rule = format!("cannot be changed from {now:?} to {wanted:?}: {why}");
            return Err(refused(format_args!("{}.{name}", PLACE.cluster), rule));
        }
    }
    Ok(())
}

fn merged(now: &Cluster, live: Option<&Shoot>, asked: UpgradeShoot) -> Result<Cluster, Error> {
    let at = PLACE.cluster;
    let (image, image_version) = image(now, live, &asked)?;
    let mut cluster = Cluster {
        kubernetes_version: version::highest(
            &now.kubernetes_version,
            live,
            asked.kubernetes_version.as_deref(),
            &format!("{at}.kubernetesVersion"),
        )?,
        worker_cidr: asked.worker_cidr.unwrap_or(now.worker_cidr.clone()),
        machine_type: asked.machine_type.unwrap_or(now.machine_type.clone()),
        machine_image: image,
        machine_image_version: image_version,
        disk_type: asked.disk_type.or(now.disk_type.clone()),
        volume_size_gb: asked.volume_size_gb.or(now.volume_size_gb),
        auto_scaler_min: asked.auto_scaler_min.unwrap_or(now.auto_scaler_min),
        auto_scaler_max: asked.auto_scaler_max.unwrap_or(now.auto_scaler_max),
        max_surge: asked.max_surge.unwrap_or(now.max_surge),
        max_unavailable: asked.max_unavailable.unwrap_or(now.max_unavailable),
        purpose: asked.purpose.or(now.purpose.clone()),
        kubernetes_auto_update: asked.kubernetes_auto_update.unwrap_or(now.kubernetes_auto_update),
        machine_image_auto_update: asked
            .machine_image_auto_update
            .unwrap_or(now.machine_image_auto_update),
        provider_config: match asked.provider_config {
            Some(config) => upgrade_provider::merged(&now.provider_config, live, config, at)?,
            None => now.provider_config.clone(),
        },
        oidc: asked.oidc.or(now.oidc.clone()),
        networking_filter_disabled: asked
            .networking_filter_disabled
            .or(live.and_then(shoots::filter_disabled))
            .unwrap_or(now.networking_filter_disabled),
        ..now.clone()
    };
    if let Some(live) = live {
        shoots::keep_higher_versions(live, &mut cluster);
    }
    Ok(cluster)
}

/// The image's name and version, as they are wanted.
fn image(
    now: &Cluster,
    live: Option<&Shoot>,
    asked: &UpgradeShoot,
) -> Result<(Option<String>, Option<String>), Error> {
    let name = some(asked.machine_image.clone()).or(now.machine_image.clone());
    let version = some(asked.machine_image_version.clone());
    // Gardener may have chosen one by itself.
    let there =
        live.and_then(pool).is_some_and(|pool| pool["machine"]["image"]["name"].is_string());
    if version.is_some() && name.is_none() && !there {
        return Err(Error::bad(cluster::IMAGE));
    }
    let same = name == now.machine_image;
    let kept = now.machine_image_version.clone().filter(|_| same);
    Ok((name, version.or(kept)))
}

fn pool(shoot: &Shoot) -> Option<&serde_json::Value> {
    shoot.spec.provider.as_ref()?.workers.first()
}
