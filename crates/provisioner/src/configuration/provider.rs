//! What only one provider has.

use async_graphql::{InputObject, SimpleObject};
use serde::{Deserialize, Serialize};

/// The provider, with what only it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Google.
    Gcp(Gcp),
    /// Microsoft.
    Azure(Azure),
    /// Amazon.
    Aws(Aws),
    /// `OpenStack`.
    OpenStack(OpenStack),
}

/// Google.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SimpleObject)]
#[graphql(name = "GCPProviderConfig")]
pub struct Gcp {
    /// At least one.
    pub zones: Vec<String>,
}

/// Microsoft.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Azure {
    /// The whole network.
    pub vnet_cidr: String,
    /// The older way to name zones: one subnet for all of them.
    #[serde(default)]
    pub zones: Option<Vec<String>>,
    /// Zones with a subnet each; wins over `zones`.
    #[serde(default)]
    pub azure_zones: Option<Vec<AzureZone>>,
    /// How nodes reach the outside; `None` when the caller said nothing.
    #[serde(default)]
    pub nat_gateway: Option<NatGateway>,
}

/// How nodes reach the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatGateway {
    /// Whether there is one.
    pub enabled: bool,
    /// After how many minutes an idle connection ends; four when absent.
    #[serde(default)]
    pub idle_minutes: Option<i32>,
}

/// One zone of Azure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SimpleObject, InputObject)]
#[graphql(input_name = "AzureZoneInput")]
pub struct AzureZone {
    /// Its number.
    pub name: i32,
    /// Its subnet.
    pub cidr: String,
}

/// Amazon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aws {
    /// The whole network.
    pub vpc_cidr: String,
    /// At least one.
    pub zones: Vec<AwsZone>,
}

/// One zone of AWS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, InputObject)]
#[graphql(name = "AWSZoneInput")]
pub struct AwsZone {
    pub name: String,
    /// Its public subnet.
    pub public_cidr: String,
    /// Its internal subnet.
    pub internal_cidr: String,
    /// The subnet of its nodes.
    pub worker_cidr: String,
}

/// `OpenStack`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SimpleObject)]
#[graphql(name = "OpenStackProviderConfig")]
pub struct OpenStack {
    /// At least one.
    pub zones: Vec<String>,
    /// Where public addresses come from.
    pub floating_pool_name: String,
    /// The cloud profile.
    pub cloud_profile_name: String,
    /// Who balances loads.
    pub load_balancer_provider: String,
}

impl Azure {
    /// Whether its machines stand in zones.
    pub fn is_zoned(&self) -> bool {
        self.zones.is_some() || self.azure_zones.is_some()
    }
}

impl Provider {
    /// In how many zones its machines stand; 0 without zones.
    pub fn zones(&self) -> usize {
        match self {
            Self::Gcp(gcp) => gcp.zones.len(),
            Self::Azure(azure) => match (&azure.azure_zones, &azure.zones) {
                (Some(own), _) => own.len(),
                (None, shared) => shared.as_ref().map_or(0, Vec::len),
            },
            Self::Aws(aws) => aws.zones.len(),
            Self::OpenStack(openstack) => openstack.zones.len(),
        }
    }

    /// Gardener's word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gcp(_) => "gcp",
            Self::Azure(_) => "azure",
            Self::Aws(_) => "aws",
            Self::OpenStack(_) => "openstack",
        }
    }
}
