//! Requests of new runtimes of Azure, GCP and `OpenStack`.

use provisioner::{
    configuration::{AzureZone, NatGateway, Oidc},
    requests::{self, AzureConfig, GcpConfig, OpenStackConfig, ProviderConfig},
};

use crate::world::aws;

pub(super) fn azure(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "azure".into(),
        target_secret: "azure-free-1".into(),
        region: "westeurope".into(),
        machine_type: Some("Standard_D4_v3".into()),
        disk_type: Some("Standard_LRS".into()),
        worker_cidr: "10.250.0.0/20".into(),
        provider_config: ProviderConfig {
            azure: Some(AzureConfig {
                vnet_cidr: "10.250.0.0/20".into(),
                zones: None,
                azure_zones: Some(vec![
                    AzureZone { name: 1, cidr: "10.250.0.0/23".into() },
                    AzureZone { name: 3, cidr: "10.250.2.0/23".into() },
                ]),
                nat_gateway: Some(NatGateway { enabled: true, idle_minutes: None }),
                idle_minutes: None,
            }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}

pub(super) fn gcp(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "gcp".into(),
        target_secret: "gcp-free-1".into(),
        region: "europe-west3".into(),
        machine_type: Some("n2-standard-4".into()),
        disk_type: Some("pd-standard".into()),
        worker_cidr: "10.250.0.0/22".into(),
        kubernetes_version: Some("1.31.4".into()),
        oidc: Some(Oidc {
            client_id: "9bd05ed7-a930-44e6-8c79-e6defeb7dec9".into(),
            groups_claim: "groups".into(),
            issuer_url: "https://issuer.example.org".into(),
            signing_algs: vec!["RS256".into()],
            username_claim: "sub".into(),
            username_prefix: "-".into(),
        }),
        control_plane_failure_tolerance: Some("zone".into()),
        provider_config: ProviderConfig {
            gcp: Some(GcpConfig { zones: vec!["europe-west3-a".into(), "europe-west3-b".into()] }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}

pub(super) fn openstack(name: &str) -> requests::Provision {
    let mut request = aws(name);
    request.cluster = requests::Cluster {
        provider: "openstack".into(),
        target_secret: "openstack-free-1".into(),
        region: "eu-de-1".into(),
        machine_type: Some("g_c4_m16".into()),
        disk_type: None,
        volume_size_gb: None,
        worker_cidr: "10.250.0.0/22".into(),
        provider_config: ProviderConfig {
            open_stack: Some(OpenStackConfig {
                zones: vec!["eu-de-1a".into()],
                floating_pool_name: None,
                cloud_profile_name: None,
                load_balancer_provider: "f5".into(),
            }),
            ..ProviderConfig::default()
        },
        ..request.cluster
    };
    request
}
