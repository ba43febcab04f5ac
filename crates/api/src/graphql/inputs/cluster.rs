//! The settings of a new cluster.

use async_graphql::InputObject;
use provisioner::{
    configuration::{Dns, DnsProvider},
    requests::Cluster,
};

use super::{
    provider::ProviderSpecificInput,
    wrong::{InputError, elements},
};

/// A cluster that Gardener makes. What may be left out has a default.
#[derive(InputObject)]
pub(super) struct GardenerConfigInput {
    #[graphql(flatten)]
    cluster: Cluster,
    /// Accepted, without effect.
    allow_privileged_containers: Option<bool>,
    provider_specific_config: ProviderSpecificInput,
    dns_config: Option<DnsConfigInput>,
}

#[derive(InputObject)]
#[graphql(name = "DNSConfigInput")]
struct DnsConfigInput {
    domain: String,
    providers: Option<Vec<Option<DnsProvider>>>,
}

impl GardenerConfigInput {
    pub(super) fn request(self) -> Result<Cluster, InputError> {
        let dns = self.dns_config.map(DnsConfigInput::settings).transpose();
        Ok(Cluster {
            provider_config: self.provider_specific_config.request(),
            dns: dns.map_err(|wrong| wrong.within("dnsConfig"))?,
            ..self.cluster
        })
    }
}

impl DnsConfigInput {
    fn settings(self) -> Result<Dns, InputError> {
        let providers = elements("providers", self.providers)?;
        Ok(Dns { domain: self.domain, providers })
    }
}
