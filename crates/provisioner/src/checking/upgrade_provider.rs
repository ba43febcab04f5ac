//! Changes of provider fields by upgradeShoot.
//!
//! | provider | may be changed |
//! |---|---|
//! | AWS, `OpenStack` | nothing |
//! | GCP | zones may be added; the subnet of the nodes, `workerCidr`, may grow |
//! | Azure | zones that share a subnet may be added; the NAT gateway; a wider virtual network |

use clients::gardener::Shoot;
use serde_json::Value;

use super::{providers, refused};
use crate::{
    Error,
    configuration::{Aws, AwsZone, Azure, AzureZone, Gcp, NatGateway, OpenStack, Provider},
    requests::{AwsConfig, AzureConfig, OpenStackConfig, ProviderConfig},
    shoots::networks::Network,
};

const CHANGE: &str = "Invalid gardener provider config change";
/// The text that clients of the reference know.
const NO_MORE_ZONES: &str = "extension of shoot network zones is not supported";
const NO_FEWER_ZONES: &str = "removal of shoot network zones is not supported";

/// A provider's part after the change, or why it cannot be.
pub(super) fn merged(
    now: &Provider,
    live: Option<&Shoot>,
    asked: ProviderConfig,
    at: &str,
) -> Result<Provider, Error> {
    let at = format!("{at}.providerSpecificConfig");
    let asked = providers::one(asked, &at).map_err(|error| error.while_doing(CHANGE))?;
    let at = format!("{at}.{}", providers::member(asked.kind()));
    let merged = match (now, asked) {
        (Provider::Gcp(now), providers::RequestedProvider::Gcp(asked)) => {
            let zones = more_zones(&now.zones, asked.zones, &format!("{at}.zones"));
            zones.map(|zones| Provider::Gcp(Gcp { zones }))
        }
        (Provider::Azure(now), providers::RequestedProvider::Azure(asked)) => {
            azure(now, live, asked, &at).map(Provider::Azure)
        }
        (Provider::Aws(now), providers::RequestedProvider::Aws(asked)) => {
            aws(now, asked, &at).map(Provider::Aws)
        }
        (Provider::OpenStack(now), providers::RequestedProvider::OpenStack(asked)) => {
            openstack(now, asked, &at).map(Provider::OpenStack)
        }
        (now, _) => Err(refused(&at, format_args!("is not for a cluster on {}", now.kind()))),
    };
    merged.map_err(|error| error.while_doing(CHANGE))
}

/// Existing zones in their order, then new ones; Gardener never removes a zone of a pool.
fn more_zones(now: &[String], asked: Vec<String>, path: &str) -> Result<Vec<String>, Error> {
    if let Some(gone) = now.iter().find(|zone| !asked.contains(zone)) {
        let rule = format!("must still have {gone:?}: Gardener removes no zone of a pool");
        return Err(refused(path, rule));
    }
    let mut zones = now.to_vec();
    // Repetitions stay, for the rules on values to refuse them.
    let mut left = now.to_vec();
    for zone in asked {
        match left.iter().position(|other| *other == zone) {
            Some(index) => drop(left.remove(index)),
            None => zones.push(zone),
        }
    }
    Ok(zones)
}

fn aws(now: &Aws, asked: AwsConfig, at: &str) -> Result<Aws, Error> {
    let asked = providers::aws(asked, at)?;
    same(&now.vpc_cidr, &asked.vpc_cidr, &format!("{at}.vpcCidr"))?;
    for zone in &asked.zones {
        match now.zones.iter().find(|other| other.name == zone.name) {
            Some(now) => same_subnets(now, zone)?,
            None => return Err(Error::bad(NO_MORE_ZONES)),
        }
    }
    all_there(&now.zones, &asked.zones)?;
    Ok(now.clone())
}

fn same_subnets(now: &AwsZone, asked: &AwsZone) -> Result<(), Error> {
    let subnets = [
        ("workers", &now.worker_cidr, &asked.worker_cidr),
        ("internal", &now.internal_cidr, &asked.internal_cidr),
        ("public", &now.public_cidr, &asked.public_cidr),
    ];
    for (word, now, asked) in subnets {
        if now != asked {
            return Err(Error::bad(format!(
                "cannot change shoot network zone {word} CIDR from {now} to {asked}"
            )));
        }
    }
    Ok(())
}

/// Each zone that is asked for has been found; there must be no other, and none twice.
fn all_there<T: PartialEq>(now: &[T], asked: &[T]) -> Result<(), Error> {
    if now.iter().any(|zone| !asked.contains(zone)) {
        return Err(Error::bad(NO_FEWER_ZONES));
    }
    if asked.len() > now.len() {
        return Err(Error::bad(NO_MORE_ZONES));
    }
    Ok(())
}

fn openstack(now: &OpenStack, asked: OpenStackConfig, at: &str) -> Result<OpenStack, Error> {
    let texts = [
        ("floatingPoolName", &now.floating_pool_name, asked.floating_pool_name),
        ("cloudProfileName", &now.cloud_profile_name, asked.cloud_profile_name),
        ("loadBalancerProvider", &now.load_balancer_provider, Some(asked.load_balancer_provider)),
    ];
    for (field, now, asked) in texts {
        same(now, asked.as_ref().unwrap_or(now), &format!("{at}.{field}"))?;
    }
    same(&now.zones.join(", "), &asked.zones.join(", "), &format!("{at}.zones"))?;
    Ok(now.clone())
}

fn azure(now: &Azure, live: Option<&Shoot>, asked: AzureConfig, at: &str) -> Result<Azure, Error> {
    let idle = asked.idle_minutes;
    let asked = providers::azure(asked);
    wider(&now.vnet_cidr, &asked.vnet_cidr, &format!("{at}.vnetCidr"))?;
    if let Some(zones) = &asked.azure_zones {
        let stored = now.azure_zones.clone().unwrap_or_default();
        let there = live.and_then(subnets).unwrap_or_else(|| stored.clone());
        own_subnets(&there, &stored, zones)?;
    }
    let path = format!("{at}.zones");
    let zones = match (&now.zones, asked.zones) {
        (now, None) => now.clone(),
        (Some(now), Some(asked)) if *now == asked => Some(asked),
        (Some(there), Some(asked)) if now.azure_zones.is_none() => {
            Some(more_zones(there, asked, &path)?)
        }
        _ => return Err(Error::bad(NO_MORE_ZONES)),
    };
    let unzoned = zones.is_none() && now.azure_zones.is_none();
    let was_on = now.nat_gateway.is_some_and(|nat| nat.enabled);
    if unzoned && !was_on && asked.nat_gateway.is_some_and(|nat| nat.enabled) {
        return Err(refused(format_args!("{at}.enableNatGateway"), providers::NO_GATEWAY));
    }
    Ok(Azure {
        vnet_cidr: asked.vnet_cidr,
        zones,
        azure_zones: asked.azure_zones.or(now.azure_zones.clone()),
        nat_gateway: asked.nat_gateway.or_else(|| {
            // Minutes alone are for the gateway that is there.
            now.nat_gateway.map(|nat| NatGateway { idle_minutes: idle.or(nat.idle_minutes), ..nat })
        }),
    })
}

/// The zones with a subnet each that a live Shoot has.
fn subnets(shoot: &Shoot) -> Option<Vec<AzureZone>> {
    let infrastructure = shoot.spec.provider.as_ref()?.rest.get("infrastructureConfig")?;
    let zone = |zone: &Value| {
        let name = i32::try_from(zone["name"].as_i64()?).ok()?;
        Some(AzureZone { name, cidr: zone["cidr"].as_str()?.to_owned() })
    };
    infrastructure["networks"]["zones"].as_array()?.iter().map(zone).collect()
}

/// Each must be in the Shoot already, with the same subnet; what is stored must still be named.
fn own_subnets(
    there: &[AzureZone],
    stored: &[AzureZone],
    asked: &[AzureZone],
) -> Result<(), Error> {
    for zone in asked {
        let Some(now) = there.iter().find(|other| other.name == zone.name) else {
            return Err(Error::bad(NO_MORE_ZONES));
        };
        if now.cidr != zone.cidr {
            return Err(Error::bad(format!(
                "cannot change shoot network zone CIDR from {} to {}",
                now.cidr, zone.cidr
            )));
        }
    }
    match stored.iter().find(|zone| !asked.contains(zone)) {
        Some(_) => Err(Error::bad(NO_FEWER_ZONES)),
        None => Ok(()),
    }
}

/// A virtual network may grow around what is in it.
fn wider(now: &str, asked: &str, path: &str) -> Result<(), Error> {
    let network: Network = asked.parse().map_err(|rule| refused(path, rule))?;
    let fits = now.parse().is_ok_and(|now: Network| network.contains(now));
    let rule = || format!("cannot be changed from {now} to {asked}: its subnets are in use");
    if fits { Ok(()) } else { Err(refused(path, rule())) }
}

fn same(now: &str, asked: &str, path: &str) -> Result<(), Error> {
    let rule = || format!("cannot be changed from {now:?} to {asked:?}");
    if now == asked { Ok(()) } else { Err(refused(path, rule())) }
}
