//! What only one provider has.

use async_graphql::InputObject;
use provisioner::{
    configuration::{AzureZone, NatGateway},
    requests::{AwsConfig, AzureConfig, GcpConfig, OpenStackConfig, ProviderConfig},
};

/// What only one provider has: exactly one of these.
#[derive(InputObject)]
pub(super) struct ProviderSpecificInput {
    #[graphql(name = "gcpConfig")]
    gcp: Option<GcpConfig>,
    #[graphql(name = "azureConfig")]
    azure: Option<AzureProviderConfigInput>,
    #[graphql(name = "awsConfig")]
    aws: Option<AwsConfig>,
    #[graphql(name = "openStackConfig")]
    open_stack: Option<OpenStackConfig>,
}

#[derive(InputObject)]
struct AzureProviderConfigInput {
    vnet_cidr: String,
    /// The older way to name zones.
    zones: Option<Vec<String>>,
    /// Zones with a subnet each.
    azure_zones: Option<Vec<AzureZone>>,
    enable_nat_gateway: Option<bool>,
    /// Alone it is for the gateway that is there.
    idle_connection_timeout_minutes: Option<i32>,
}

impl ProviderSpecificInput {
    pub(super) fn request(self) -> ProviderConfig {
        let Self { gcp, azure, aws, open_stack } = self;
        ProviderConfig { gcp, azure: azure.map(AzureConfig::from), aws, open_stack }
    }
}

impl From<AzureProviderConfigInput> for AzureConfig {
    fn from(input: AzureProviderConfigInput) -> Self {
        let idle_minutes = input.idle_connection_timeout_minutes;
        let gateway = |enabled| NatGateway { enabled, idle_minutes };
        Self {
            vnet_cidr: input.vnet_cidr,
            zones: input.zones,
            azure_zones: input.azure_zones,
            nat_gateway: input.enable_nat_gateway.map(gateway),
            idle_minutes: idle_minutes.filter(|_| input.enable_nat_gateway.is_none()),
        }
    }
}
