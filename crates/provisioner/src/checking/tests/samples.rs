//! Requests for each provider that break no rule.

use serde_json::{Map, json};

use crate::{
    Error,
    checking::{self, Defaults},
    configuration::{AwsZone, AzureZone, Configuration, Dns, DnsProvider, NatGateway, Oidc},
    requests::{
        AwsConfig, AzureConfig, Cluster, GcpConfig, OpenStackConfig, ProviderConfig, Provision,
    },
};

/// How a new runtime's cluster is named in a request.
pub(crate) const AT: &str = "clusterConfig.gardenerConfig";

/// The order that the documents show.
pub(crate) fn aws() -> Provision {
    let zone = AwsZone {
        name: "eu-central-1a".into(),
        worker_cidr: "10.250.0.0/19".into(),
        public_cidr: "10.250.32.0/20".into(),
        internal_cidr: "10.250.48.0/20".into(),
    };
    let aws = AwsConfig { vpc_cidr: "10.250.0.0/16".into(), zones: vec![Some(zone)] };
    let cluster = Cluster {
        kubernetes_version: Some("1.25.6".into()),
        machine_type: Some("m5.xlarge".into()),
        disk_type: Some("gp3".into()),
        volume_size_gb: Some(50),
        auto_scaler_min: Some(3),
        auto_scaler_max: Some(10),
        max_surge: Some(3),
        max_unavailable: Some(0),
        purpose: Some("development".into()),
        eu_access: Some(true),
        ..cluster("aws", "eu-central-1", "10.250.0.0/16")
    };
    let config = ProviderConfig { aws: Some(aws), ..ProviderConfig::default() };
    order(Cluster { provider_config: config, ..cluster })
}

/// The second zone for the sample on AWS.
pub(crate) fn second_aws_zone() -> AwsZone {
    AwsZone {
        name: "eu-central-1b".into(),
        worker_cidr: "10.250.64.0/19".into(),
        public_cidr: "10.250.96.0/20".into(),
        internal_cidr: "10.250.112.0/20".into(),
    }
}

/// As little as one can say, on Azure without zones.
pub(crate) fn azure() -> Provision {
    let azure = AzureConfig { vnet_cidr: "10.250.0.0/20".into(), ..AzureConfig::default() };
    let config = ProviderConfig { azure: Some(azure), ..ProviderConfig::default() };
    let cluster = cluster("azure", "westeurope", "10.250.0.0/20");
    order(Cluster { provider_config: config, ..cluster })
}

/// On Azure, with zones that share a subnet.
pub(crate) fn azure_shared() -> Provision {
    let mut request = azure();
    edit_azure(&mut request).zones = Some(vec!["1".into(), "2".into()]);
    request
}

/// On Azure, with zones that have a subnet each.
pub(crate) fn azure_own() -> Provision {
    let mut request = azure();
    let zone = |name, cidr: &str| AzureZone { name, cidr: cidr.into() };
    edit_azure(&mut request).azure_zones =
        Some(vec![zone(1, "10.250.0.0/23"), zone(3, "10.250.2.0/23")]);
    request
}

/// The part that only Azure has.
pub(crate) fn edit_azure(request: &mut Provision) -> &mut AzureConfig {
    request.cluster.provider_config.azure.as_mut().unwrap()
}

/// A NAT gateway that is switched on or off.
pub(crate) fn nat(enabled: bool, idle_minutes: Option<i32>) -> NatGateway {
    NatGateway { enabled, idle_minutes }
}

/// As little as one can say, on GCP.
pub(crate) fn gcp() -> Provision {
    let gcp = GcpConfig { zones: vec!["europe-west3-a".into(), "europe-west3-b".into()] };
    let config = ProviderConfig { gcp: Some(gcp), ..ProviderConfig::default() };
    let cluster = cluster("gcp", "europe-west3", "10.250.0.0/22");
    order(Cluster { provider_config: config, ..cluster })
}

/// As little as one can say, on `OpenStack`.
pub(crate) fn openstack() -> Provision {
    let openstack = OpenStackConfig {
        zones: vec!["eu-de-1a".into()],
        load_balancer_provider: "f5".into(),
        ..OpenStackConfig::default()
    };
    let config = ProviderConfig { open_stack: Some(openstack), ..ProviderConfig::default() };
    let cluster = cluster("openstack", "eu-de-1", "10.250.0.0/22");
    order(Cluster { provider_config: config, ..cluster })
}

/// An OIDC issuer.
pub(crate) fn oidc() -> Oidc {
    Oidc {
        client_id: "client".into(),
        groups_claim: "groups".into(),
        issuer_url: "https://issuer.example.org".into(),
        signing_algs: vec!["RS256".into()],
        username_claim: "sub".into(),
        username_prefix: "-".into(),
    }
}

/// A domain with a DNS provider.
pub(crate) fn dns() -> Dns {
    let provider = DnsProvider {
        domains_include: vec!["kyma.example.org".into()],
        primary: true,
        secret_name: "route53".into(),
        kind: "aws-route53".into(),
    };
    Dns { domain: "c-7f3a91b.kyma.example.org".into(), providers: vec![provider] }
}

/// The checked configuration of a request.
pub(crate) fn checked(request: Provision) -> Configuration {
    checking::provision(request, &Defaults::default()).unwrap()
}

/// Why a request is refused.
pub(crate) fn refusal(request: Provision) -> Error {
    checking::provision(request, &Defaults::default()).unwrap_err()
}

fn cluster(provider: &str, region: &str, worker_cidr: &str) -> Cluster {
    Cluster {
        name: "c-7f3a91b".into(),
        provider: provider.into(),
        target_secret: format!("{provider}-sec"),
        region: region.into(),
        worker_cidr: worker_cidr.into(),
        ..Cluster::default()
    }
}

fn order(cluster: Cluster) -> Provision {
    let mut labels = Map::new();
    labels.insert("team".into(), json!("blue"));
    Provision {
        runtime_id: None,
        name: "demo-1".into(),
        description: Some("demo".into()),
        labels,
        cluster,
        administrators: vec!["ada@example.org".into()],
        kyma: None,
    }
}
