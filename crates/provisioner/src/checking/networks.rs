//! Rules for networks: each inside of the one around it, and none in the way of another.

use super::{must, refused};
use crate::{
    Error,
    configuration::{AwsZone, AzureZone, Cluster, Provider},
    shoots::networks::Network,
};

/// A network, and where the request names it.
struct NamedNetwork {
    path: String,
    network: Network,
}

pub(super) fn check(cluster: &Cluster, at: &str) -> Result<(), Error> {
    let workers = named(&cluster.worker_cidr, format!("{at}.workerCidr"))?;
    let at_provider = format!("{at}.providerSpecificConfig");
    let nodes = match &cluster.provider_config {
        Provider::Gcp(_) | Provider::OpenStack(_) => workers,
        Provider::Azure(azure) => {
            let at = format!("{at_provider}.azureConfig");
            let vnet = named(&azure.vnet_cidr, format!("{at}.vnetCidr"))?;
            // With a subnet in each zone nobody uses it.
            if azure.azure_zones.is_none() {
                workers.must_be_in(&vnet)?;
            }
            let zones = azure.azure_zones.iter().flatten().enumerate();
            subnets(&vnet, zones.map(|(i, zone)| azure_zone(zone, &at, i)))?;
            vnet
        }
        Provider::Aws(aws) => {
            let at = format!("{at_provider}.awsConfig");
            // Each zone has a subnet for its nodes: nobody uses the one for all of them.
            let vpc = named(&aws.vpc_cidr, format!("{at}.vpcCidr"))?;
            let zones = aws.zones.iter().enumerate();
            subnets(&vpc, zones.flat_map(|(i, zone)| aws_zone(zone, &at, i)))?;
            vpc
        }
    };
    inside_of_the_cluster(cluster, nodes, at)
}

/// Pods and services have networks of their own.
fn inside_of_the_cluster(cluster: &Cluster, nodes: NamedNetwork, at: &str) -> Result<(), Error> {
    let mut others = vec![nodes];
    let more = [("podsCidr", &cluster.pods_cidr), ("servicesCidr", &cluster.services_cidr)];
    for (name, cidr) in more {
        let Some(cidr) = cidr else { continue };
        let network = named(cidr, format!("{at}.{name}"))?;
        network.must_be_apart_from(&others)?;
        others.push(network);
    }
    Ok(())
}

/// All inside of the network, and apart from each other.
fn subnets(
    around: &NamedNetwork,
    subnets: impl Iterator<Item = Result<NamedNetwork, Error>>,
) -> Result<(), Error> {
    let mut others = vec![];
    for subnet in subnets {
        let subnet = subnet?;
        subnet.must_be_in(around)?;
        subnet.must_be_apart_from(&others)?;
        others.push(subnet);
    }
    Ok(())
}

fn azure_zone(zone: &AzureZone, at: &str, index: usize) -> Result<NamedNetwork, Error> {
    named(&zone.cidr, format!("{at}.azureZones[{index}].cidr"))
}

fn aws_zone(zone: &AwsZone, at: &str, index: usize) -> [Result<NamedNetwork, Error>; 3] {
    let at = format!("{at}.awsZones[{index}]");
    [
        named(&zone.worker_cidr, format!("{at}.workerCidr")),
        named(&zone.public_cidr, format!("{at}.publicCidr")),
        named(&zone.internal_cidr, format!("{at}.internalCidr")),
    ]
}

fn named(cidr: &str, path: String) -> Result<NamedNetwork, Error> {
    match cidr.parse() {
        Ok(network) => Ok(NamedNetwork { path, network }),
        Err(rule) => Err(refused(path, rule)),
    }
}

impl NamedNetwork {
    fn must_be_in(&self, around: &Self) -> Result<(), Error> {
        let (inner, outer) = (self.network, around.network);
        let rule = format_args!("{inner} must be inside of {}, which is {outer}", around.path);
        must(outer.contains(inner), &self.path, rule)
    }

    fn must_be_apart_from(&self, others: &[Self]) -> Result<(), Error> {
        let same = others.iter().find(|other| other.network.overlaps(self.network));
        let Some(Self { path, network }) = same else { return Ok(()) };
        let rule = format!("{} must not overlap with {path}, which is {network}", self.network);
        Err(refused(&self.path, rule))
    }
}
