//! What only one provider has.

use async_graphql::InputObject;
use provisioner::{
    configuration::{AwsZone, AzureZone, NatGateway},
    requests::{AwsConfig, AzureConfig, GcpConfig, OpenStackConfig, ProviderConfig},
};

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
    /// Alone it is for the gateway that is there.
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
    pub(super) fn request(self) -> ProviderConfig {
        ProviderConfig {
            gcp: self.gcp.map(|gcp| GcpConfig { zones: gcp.zones }),
            azure: self.azure.map(AzureConfig::from),
            aws: self.aws.map(AwsConfig::from),
            open_stack: self.open_stack.map(OpenStackConfig::from),
        }
    }
}

impl From<AzureProviderConfigInput> for AzureConfig {
    fn from(input: AzureProviderConfigInput) -> Self {
        let idle_minutes = input.idle_connection_timeout_minutes;
        let gateway = |enabled| NatGateway { enabled, idle_minutes };
        let zones = input.azure_zones.map(|zones| zones.into_iter().map(AzureZone::from).collect());
        Self {
            vnet_cidr: input.vnet_cidr,
            zones: input.zones,
            azure_zones: zones,
            nat_gateway: input.enable_nat_gateway.map(gateway),
            idle_minutes: idle_minutes.filter(|_| input.enable_nat_gateway.is_none()),
        }
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
