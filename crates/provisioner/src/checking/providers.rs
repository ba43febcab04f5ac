//! Rules for what only one provider has: exactly one of them, the right one, with zones that exist once.

use std::collections::BTreeSet;

use super::{Defaults, must, refused};
use crate::{
    Error,
    configuration::{Aws, AwsZone, Azure, Cluster, Gcp, OpenStack, Provider},
    requests::{AwsConfig, AzureConfig, OpenStackConfig, ProviderConfig},
};

/// Why a cluster has no NAT gateway.
pub(super) const NO_GATEWAY: &str =
    "cannot be switched on: Gardener has NAT gateways only for clusters with zones";
/// The text that clients of the reference know.
const NONE: &str = "provider config not specified";

/// The one provider that a request names, with its defaults filled in.
pub(super) fn chosen(
    asked: ProviderConfig,
    defaults: &Defaults,
    at: &str,
) -> Result<Provider, Error> {
    let at = format!("{at}.providerSpecificConfig");
    Ok(match one(asked, &at)? {
        RequestedProvider::Gcp(gcp) => Provider::Gcp(Gcp { zones: gcp.zones }),
        RequestedProvider::Azure(asked) => {
            let azure = self::azure(asked);
            let on = azure.nat_gateway.is_some_and(|nat| nat.enabled);
            let path = format_args!("{at}.azureConfig.enableNatGateway");
            must(!on || azure.is_zoned(), path, NO_GATEWAY)?;
            Provider::Azure(azure)
        }
        RequestedProvider::Aws(aws) => Provider::Aws(self::aws(aws, &format!("{at}.awsConfig"))?),
        RequestedProvider::OpenStack(openstack) => {
            Provider::OpenStack(self::openstack(openstack, defaults))
        }
    })
}

/// The one provider that a request names.
pub(super) enum RequestedProvider {
    Gcp(crate::requests::GcpConfig),
    Azure(AzureConfig),
    Aws(AwsConfig),
    OpenStack(OpenStackConfig),
}

impl RequestedProvider {
    /// Gardener's word for it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Gcp(_) => "gcp",
            Self::Azure(_) => "azure",
            Self::Aws(_) => "aws",
            Self::OpenStack(_) => "openstack",
        }
    }
}

/// Exactly one member must be there.
pub(super) fn one(asked: ProviderConfig, at: &str) -> Result<RequestedProvider, Error> {
    let members = [
        asked.gcp.map(RequestedProvider::Gcp),
        asked.azure.map(RequestedProvider::Azure),
        asked.aws.map(RequestedProvider::Aws),
        asked.open_stack.map(RequestedProvider::OpenStack),
    ];
    let mut members = members.into_iter().flatten();
    match (members.next(), members.next()) {
        (None, _) => Err(Error::bad(NONE)),
        (Some(only), None) => Ok(only),
        (Some(first), Some(second)) => {
            let (first, second) = (member(first.kind()), member(second.kind()));
            let rule = format!("must have exactly one member, not {first} and {second}");
            Err(refused(at, rule))
        }
    }
}

/// The name of a provider's field in a request.
pub(super) fn member(kind: &str) -> &'static str {
    match kind {
        "gcp" => "gcpConfig",
        "azure" => "azureConfig",
        "aws" => "awsConfig",
        _ => "openStackConfig",
    }
}

/// Amazon's part; the protocol allows null in the list of zones, nobody can mean it.
pub(super) fn aws(asked: AwsConfig, at: &str) -> Result<Aws, Error> {
    let zone = |(index, zone): (usize, Option<AwsZone>)| {
        let path = format!("{at}.awsZones[{index}]");
        zone.ok_or_else(|| refused(path, "must not be null"))
    };
    let zones: Result<Vec<AwsZone>, Error> =
        asked.zones.into_iter().enumerate().map(zone).collect();
    Ok(Aws { vpc_cidr: asked.vpc_cidr, zones: zones? })
}

/// Microsoft's part; a list without zones is none.
pub(super) fn azure(asked: AzureConfig) -> Azure {
    Azure {
        vnet_cidr: asked.vnet_cidr,
        zones: asked.zones.filter(|zones| !zones.is_empty()),
        azure_zones: asked.azure_zones.filter(|zones| !zones.is_empty()),
        nat_gateway: asked.nat_gateway,
    }
}

fn openstack(asked: OpenStackConfig, defaults: &Defaults) -> OpenStack {
    let or = |text: Option<String>, default: &String| super::some(text).unwrap_or(default.clone());
    OpenStack {
        zones: asked.zones,
        floating_pool_name: or(asked.floating_pool_name, &defaults.floating_pool_name),
        cloud_profile_name: or(asked.cloud_profile_name, &defaults.cloud_profile_name),
        load_balancer_provider: asked.load_balancer_provider,
    }
}

/// The rules for values.
pub(super) fn check(cluster: &Cluster, at: &str) -> Result<(), Error> {
    match &cluster.provider_config {
        Provider::Gcp(gcp) => {
            let names = gcp.zones.iter().map(String::as_str);
            zones(names, &format!("{at}.gcpConfig.zones"), "")
        }
        Provider::Azure(azure) => check_azure(azure, &format!("{at}.azureConfig")),
        Provider::Aws(aws) => {
            let names = aws.zones.iter().map(|zone| zone.name.as_str());
            zones(names, &format!("{at}.awsConfig.awsZones"), ".name")
        }
        Provider::OpenStack(openstack) => {
            check_openstack(openstack, &format!("{at}.openStackConfig"))
        }
    }
}

fn check_openstack(openstack: &OpenStack, at: &str) -> Result<(), Error> {
    zones(openstack.zones.iter().map(String::as_str), &format!("{at}.zones"), "")?;
    let texts = [
        ("floatingPoolName", &openstack.floating_pool_name),
        ("cloudProfileName", &openstack.cloud_profile_name),
        ("loadBalancerProvider", &openstack.load_balancer_provider),
    ];
    for (name, text) in texts {
        must(!text.is_empty(), format_args!("{at}.{name}"), "must not be empty")?;
    }
    Ok(())
}

fn check_azure(azure: &Azure, at: &str) -> Result<(), Error> {
    if let Some(shared) = &azure.zones {
        zones(shared.iter().map(String::as_str), &format!("{at}.zones"), "")?;
    }
    if let Some(own) = &azure.azure_zones {
        let names: Vec<String> = own.iter().map(|zone| zone.name.to_string()).collect();
        zones(names.iter().map(String::as_str), &format!("{at}.azureZones"), ".name")?;
        let strange = own.iter().position(|zone| zone.name < 1);
        let index = strange.unwrap_or_default();
        let path = format_args!("{at}.azureZones[{index}].name");
        must(strange.is_none(), path, "must be at least 1")?;
    }
    let minutes = azure.nat_gateway.and_then(|nat| nat.idle_minutes);
    must(
        minutes.is_none_or(|minutes| (4..=120).contains(&minutes)),
        format_args!("{at}.idleConnectionTimeoutMinutes"),
        "must be between 4 and 120",
    )
}

/// At least one, each with a name, each once.
fn zones<'a>(names: impl Iterator<Item = &'a str>, at: &str, field: &str) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for (index, name) in names.enumerate() {
        let path = format_args!("{at}[{index}]{field}");
        must(!name.trim().is_empty(), path, "must not be empty")?;
        must(seen.insert(name), path, format_args!("{name:?} is there twice"))?;
    }
    must(!seen.is_empty(), at, "must have at least one zone")
}
