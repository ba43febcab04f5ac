//! What only one provider has.

use async_graphql::InputObject;
use provisioner::{
    configuration::{AwsZone, AzureZone, NatGateway},
    requests::{AwsConfig, AzureConfig, GcpConfig, OpenStackConfig, ProviderConfig},
};

use super::wrong::Wrong;

/// What only one provider has: exactly one of these.
#[derive(InputObject)]
pub(super) struct ProviderSpecificInput {
    #[graphql(name = "gcpConfig")]
    gcp: Option<GcpProviderConfigInput>,
    #[graphql(name = "azureConfig")]
    azure: Option<AzureProviderConfigInput>,
    #[graphql(name = "awsConfig")]
    aws: Option<AwsProviderConfigInput>,
    #[graphql(name = "openStackConfig")]
    open_stack: Option<OpenStackProviderConfigInput>,
}

#[derive(InputObject)]
#[graphql(name = "GCPProviderConfigInput")]
struct GcpProviderConfigInput {
    zones: Vec<String>,
}

#[derive(InputObject)]
struct AzureProviderConfigInput {
    vnet_cidr: String,
    /// The older way to name zones.
    zones: Option<Vec<String>>,
    /// Zones with a subnet each.
    azure_zones: Option<Vec<AzureZoneInput>>,
    enable_nat_gateway: Option<bool>,
    /// Only together with enableNatGateway.
    idle_connection_timeout_minutes: Option<i32>,
}

#[derive(InputObject)]
struct AzureZoneInput {
    name: i32,
    cidr: String,
}

#[derive(InputObject)]
#[graphql(name = "AWSProviderConfigInput")]
struct AwsProviderConfigInput {
    vpc_cidr: String,
    aws_zones: Vec<Option<AwsZoneInput>>,
}

#[derive(InputObject)]
#[graphql(name = "AWSZoneInput")]
struct AwsZoneInput {
    name: String,
    public_cidr: String,
    internal_cidr: String,
    worker_cidr: String,
}

#[derive(InputObject)]
struct OpenStackProviderConfigInput {
    zones: Vec<String>,
    floating_pool_name: Option<String>,
    cloud_profile_name: Option<String>,
    load_balancer_provider: String,
}

impl ProviderSpecificInput {
    pub(super) fn request(self) -> Result<ProviderConfig, Wrong> {
        let azure = self.azure.map(AzureProviderConfigInput::request).transpose();
        Ok(ProviderConfig {
            gcp: self.gcp.map(|gcp| GcpConfig { zones: gcp.zones }),
            azure: azure.map_err(|wrong| wrong.within("azureConfig"))?,
            aws: self.aws.map(AwsConfig::from),
            open_stack: self.open_stack.map(OpenStackConfig::from),
        })
    }
}

impl AzureProviderConfigInput {
    fn request(self) -> Result<AzureConfig, Wrong> {
        let idle_minutes = self.idle_connection_timeout_minutes;
        let nat_gateway = match (self.enable_nat_gateway, idle_minutes) {
            (Some(enabled), idle_minutes) => Some(NatGateway { enabled, idle_minutes }),
            (None, None) => None,
            // It would be dropped in silence: without the switch the gateway stays as it is.
            (None, Some(_)) => {
                let field = "idleConnectionTimeoutMinutes";
                return Err(Wrong::new(field, "is given without enableNatGateway"));
            }
        };
        let zones = self.azure_zones.map(|zones| zones.into_iter().map(AzureZone::from).collect());
        let vnet_cidr = self.vnet_cidr;
        Ok(AzureConfig { vnet_cidr, zones: self.zones, azure_zones: zones, nat_gateway })
    }
}

impl From<AzureZoneInput> for AzureZone {
    fn from(input: AzureZoneInput) -> Self {
        Self { name: input.name, cidr: input.cidr }
    }
}

impl From<AwsProviderConfigInput> for AwsConfig {
    fn from(input: AwsProviderConfigInput) -> Self {
        let zones = input.aws_zones.into_iter().map(|zone| zone.map(AwsZone::from)).collect();
        Self { vpc_cidr: input.vpc_cidr, zones }
    }
}

impl From<AwsZoneInput> for AwsZone {
    fn from(input: AwsZoneInput) -> Self {
        let AwsZoneInput { name, public_cidr, internal_cidr, worker_cidr } = input;
        Self { name, public_cidr, internal_cidr, worker_cidr }
    }
}

impl From<OpenStackProviderConfigInput> for OpenStackConfig {
    fn from(input: OpenStackProviderConfigInput) -> Self {
        Self {
            zones: input.zones,
            floating_pool_name: input.floating_pool_name,
            cloud_profile_name: input.cloud_profile_name,
            load_balancer_provider: input.load_balancer_provider,
        }
    }
}
