//! Runtimes and operations as use cases answer with them.

use provisioner::{
    Error,
    configuration::{
        Aws, AwsZone, Azure, AzureZone, Cluster, Component, Configuration, ConflictStrategy,
        DirectorEntry, Dns, DnsProvider, Entry, Gcp, Kyma, NatGateway, Oidc, OpenStack, Profile,
        Provider,
    },
    status::{
        ConnectionState, ConnectionStatus, Hibernation, OperationState, OperationStatus,
        OperationType, RuntimeStatus,
    },
};

/// A runtime.
pub(crate) const RUNTIME: &str = "0b9f6c52-6f53-4b39-8f0a-0f6d5f0f8f11";
/// An operation.
pub(crate) const OPERATION: &str = "3c0e6a0e-9a43-4f0e-8f0b-5f5ad6a2b7a1";
/// A runtime that does not exist.
pub(crate) const UNKNOWN: &str = "5d1c0c1e-0000-4000-8000-000000000001";

pub(crate) fn unknown() -> Error {
    Error::not_found(format!("runtime {UNKNOWN} does not exist"))
}

pub(crate) fn operation() -> OperationStatus {
    OperationStatus {
        id: OPERATION.into(),
        kind: OperationType::ProvisionNoInstall,
        state: OperationState::InProgress,
        message: "Provisioning started".into(),
        runtime_id: RUNTIME.into(),
        last_error: None,
        errors: vec![],
    }
}

pub(crate) fn aws() -> Provider {
    let zone = AwsZone {
        name: "eu-central-1a".into(),
        public_cidr: "10.250.32.0/20".into(),
        internal_cidr: "10.250.48.0/20".into(),
        worker_cidr: "10.250.0.0/19".into(),
    };
    Provider::Aws(Aws { vpc_cidr: "10.250.0.0/16".into(), zones: vec![zone] })
}

pub(crate) fn azure() -> Provider {
    Provider::Azure(Azure {
        vnet_cidr: "10.1.0.0/16".into(),
        zones: Some(vec!["1".into()]),
        azure_zones: Some(vec![AzureZone { name: 2, cidr: "10.1.2.0/24".into() }]),
        nat_gateway: Some(NatGateway { enabled: true, idle_minutes: Some(7) }),
    })
}

pub(crate) fn gcp() -> Provider {
    Provider::Gcp(Gcp { zones: vec!["europe-west3-a".into(), "europe-west3-b".into()] })
}

pub(crate) fn open_stack() -> Provider {
    Provider::OpenStack(OpenStack {
        zones: vec!["eu-de-1a".into()],
        floating_pool_name: "pool".into(),
        cloud_profile_name: "profile".into(),
        load_balancer_provider: "f5".into(),
    })
}

/// A runtime in which every field says something.
pub(crate) fn runtime(provider: Provider) -> RuntimeStatus {
    RuntimeStatus {
        last_operation: Some(operation()),
        connection: ConnectionStatus {
            state: ConnectionState::Disconnected,
            errors: vec!["certificate expired".into()],
        },
        configuration: Configuration {
            entry: DirectorEntry::default(),
            cluster: cluster(provider),
            administrators: vec!["ada@example.org".into()],
            kyma: Some(kyma()),
        },
        kubeconfig: Some("apiVersion: v1".into()),
        hibernation: Hibernation { hibernated: Some(false), possible: Some(true) },
    }
}

fn cluster(provider: Provider) -> Cluster {
    Cluster {
        name: "c-7f3a91b".into(),
        kubernetes_version: "1.31.2".into(),
        provider: provider.kind().into(),
        target_secret: "the-secret".into(),
        region: "eu-central-1".into(),
        machine_type: "m5.xlarge".into(),
        machine_image: Some("gardenlinux".into()),
        machine_image_version: Some("1443.3.0".into()),
        disk_type: Some("gp3".into()),
        volume_size_gb: Some(50),
        worker_cidr: "10.250.0.0/16".into(),
        pods_cidr: Some("100.64.0.0/12".into()),
        services_cidr: Some("100.104.0.0/13".into()),
        auto_scaler_min: 3,
        auto_scaler_max: 10,
        max_surge: 4,
        max_unavailable: 0,
        purpose: Some("development".into()),
        licence_type: Some("TestDevelopmentAndDemo".into()),
        kubernetes_auto_update: true,
        machine_image_auto_update: false,
        provider_config: provider,
        dns: Some(dns()),
        seed: Some("aws-eu1".into()),
        oidc: Some(oidc()),
        exposure_class_name: Some("internet".into()),
        networking_filter_disabled: true,
        control_plane_failure_tolerance: Some("zone".into()),
        eu_access: true,
    }
}

fn dns() -> Dns {
    let provider = |number: u8| DnsProvider {
        domains_include: vec![format!("d{number}.example.org")],
        primary: number == 1,
        secret_name: format!("dns-secret-{number}"),
        kind: "aws-route53".into(),
    };
    Dns { domain: "c-7f3a91b.example.org".into(), providers: vec![provider(1), provider(2)] }
}

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

fn kyma() -> Kyma {
    let entry = |key: &str, secret| Entry { key: key.into(), value: "1".into(), secret };
    Kyma {
        version: "2.20.0".into(),
        profile: Some(Profile::Production),
        components: vec![Component {
            component: Kyma::AGENT.into(),
            namespace: "kyma-system".into(),
            configuration: vec![entry("replicas", false)],
            source_url: Some("https://charts.example.org/agent".into()),
            conflict_strategy: Some(ConflictStrategy::Merge),
        }],
        configuration: vec![entry("password", true)],
        conflict_strategy: None,
    }
}
