//! The settings of a new cluster.

use async_graphql::InputObject;
use provisioner::{
    configuration::{Dns, DnsProvider, Oidc},
    requests::Cluster,
};

use super::{
    provider::ProviderSpecificInput,
    wrong::{Wrong, elements},
};

/// A cluster that Gardener makes. What may be left out has a default.
#[derive(InputObject)]
pub(super) struct GardenerConfigInput {
    /// The name of the Shoot.
    name: String,
    kubernetes_version: Option<String>,
    /// aws, azure, gcp or openstack.
    provider: String,
    target_secret: String,
    region: String,
    machine_type: Option<String>,
    machine_image: Option<String>,
    machine_image_version: Option<String>,
    disk_type: Option<String>,
    #[graphql(name = "volumeSizeGB")]
    volume_size_gb: Option<i32>,
    worker_cidr: String,
    pods_cidr: Option<String>,
    services_cidr: Option<String>,
    auto_scaler_min: Option<i32>,
    auto_scaler_max: Option<i32>,
    max_surge: Option<i32>,
    max_unavailable: Option<i32>,
    purpose: Option<String>,
    licence_type: Option<String>,
    enable_kubernetes_version_auto_update: Option<bool>,
    enable_machine_image_version_auto_update: Option<bool>,
    /// Accepted, without effect.
    allow_privileged_containers: Option<bool>,
    provider_specific_config: ProviderSpecificInput,
    dns_config: Option<DnsConfigInput>,
    seed: Option<String>,
    oidc_config: Option<OidcConfigInput>,
    exposure_class_name: Option<String>,
    shoot_networking_filter_disabled: Option<bool>,
    control_plane_failure_tolerance: Option<String>,
    eu_access: Option<bool>,
}

#[derive(InputObject)]
#[graphql(name = "DNSConfigInput")]
struct DnsConfigInput {
    domain: String,
    providers: Option<Vec<Option<DnsProviderInput>>>,
}

#[derive(InputObject)]
#[graphql(name = "DNSProviderInput")]
struct DnsProviderInput {
    domains_include: Vec<String>,
    primary: bool,
    secret_name: String,
    #[graphql(name = "type")]
    kind: String,
}

#[derive(InputObject)]
#[graphql(name = "OIDCConfigInput")]
pub(super) struct OidcConfigInput {
    #[graphql(name = "clientID")]
    client_id: String,
    groups_claim: String,
    #[graphql(name = "issuerURL")]
    issuer_url: String,
    signing_algs: Vec<String>,
    username_claim: String,
    username_prefix: String,
}

impl GardenerConfigInput {
    pub(super) fn request(self) -> Result<Cluster, Wrong> {
        let dns = self.dns_config.map(DnsConfigInput::settings).transpose();
        Ok(Cluster {
            name: self.name,
            kubernetes_version: self.kubernetes_version,
            provider: self.provider,
            target_secret: self.target_secret,
            region: self.region,
            machine_type: self.machine_type,
            machine_image: self.machine_image,
            machine_image_version: self.machine_image_version,
            disk_type: self.disk_type,
            volume_size_gb: self.volume_size_gb,
            worker_cidr: self.worker_cidr,
            pods_cidr: self.pods_cidr,
            services_cidr: self.services_cidr,
            auto_scaler_min: self.auto_scaler_min,
            auto_scaler_max: self.auto_scaler_max,
            max_surge: self.max_surge,
            max_unavailable: self.max_unavailable,
            purpose: self.purpose,
            licence_type: self.licence_type,
            kubernetes_auto_update: self.enable_kubernetes_version_auto_update,
            machine_image_auto_update: self.enable_machine_image_version_auto_update,
            provider_config: self.provider_specific_config.request(),
            dns: dns.map_err(|wrong| wrong.within("dnsConfig"))?,
            seed: self.seed,
            oidc: self.oidc_config.map(Oidc::from),
            exposure_class_name: self.exposure_class_name,
            networking_filter_disabled: self.shoot_networking_filter_disabled,
            control_plane_failure_tolerance: self.control_plane_failure_tolerance,
            eu_access: self.eu_access,
        })
    }
}

impl DnsConfigInput {
    fn settings(self) -> Result<Dns, Wrong> {
        let providers = elements("providers", self.providers)?;
        let providers = providers.into_iter().map(DnsProvider::from).collect();
        Ok(Dns { domain: self.domain, providers })
    }
}

impl From<DnsProviderInput> for DnsProvider {
    fn from(input: DnsProviderInput) -> Self {
        let DnsProviderInput { domains_include, primary, secret_name, kind } = input;
        Self { domains_include, primary, secret_name, kind }
    }
}

impl From<OidcConfigInput> for Oidc {
    fn from(input: OidcConfigInput) -> Self {
        Self {
            client_id: input.client_id,
            groups_claim: input.groups_claim,
            issuer_url: input.issuer_url,
            signing_algs: input.signing_algs,
            username_claim: input.username_claim,
            username_prefix: input.username_prefix,
        }
    }
}
