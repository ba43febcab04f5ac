//! What only one provider has.

use async_graphql::{SimpleObject, Union};
use provisioner::configuration::{self, Aws, Azure, AzureZone, Gcp, OpenStack, Provider};

/// What only one provider has.
#[derive(Union)]
pub(super) enum ProviderSpecificConfig {
    Gcp(Gcp),
    Azure(AzureProviderConfig),
    Aws(AwsProviderConfig),
    OpenStack(OpenStack),
}

#[derive(SimpleObject)]
pub(super) struct AzureProviderConfig {
    vnet_cidr: Option<String>,
    zones: Option<Vec<String>>,
    azure_zones: Option<Vec<AzureZone>>,
    enable_nat_gateway: Option<bool>,
    idle_connection_timeout_minutes: Option<i32>,
}

#[derive(SimpleObject)]
#[graphql(name = "AWSProviderConfig")]
pub(super) struct AwsProviderConfig {
    aws_zones: Vec<Option<AwsZone>>,
    vpc_cidr: Option<String>,
}

#[derive(SimpleObject)]
#[graphql(name = "AWSZone")]
struct AwsZone {
    name: Option<String>,
    public_cidr: Option<String>,
    internal_cidr: Option<String>,
    worker_cidr: Option<String>,
}

impl From<Provider> for ProviderSpecificConfig {
    fn from(provider: Provider) -> Self {
        match provider {
            Provider::Gcp(gcp) => Self::Gcp(gcp),
            Provider::Azure(azure) => Self::Azure(azure.into()),
            Provider::Aws(Aws { vpc_cidr, zones }) => Self::Aws(AwsProviderConfig {
                aws_zones: zones.into_iter().map(|zone| Some(zone.into())).collect(),
                vpc_cidr: Some(vpc_cidr),
            }),
            Provider::OpenStack(own) => Self::OpenStack(own),
        }
    }
}

impl From<Azure> for AzureProviderConfig {
    fn from(azure: Azure) -> Self {
        Self {
            vnet_cidr: Some(azure.vnet_cidr),
            zones: azure.zones,
            azure_zones: azure.azure_zones,
            enable_nat_gateway: azure.nat_gateway.map(|gateway| gateway.enabled),
            idle_connection_timeout_minutes: azure
                .nat_gateway
                .and_then(|gateway| gateway.idle_minutes),
        }
    }
}

impl From<configuration::AwsZone> for AwsZone {
    fn from(zone: configuration::AwsZone) -> Self {
        Self {
            name: Some(zone.name),
            public_cidr: Some(zone.public_cidr),
            internal_cidr: Some(zone.internal_cidr),
            worker_cidr: Some(zone.worker_cidr),
        }
    }
}
