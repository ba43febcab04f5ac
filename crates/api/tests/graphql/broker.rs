//! The broker's own client against the schema: every document that it sends, with every field that it can send.
//!
//! What a reader would get wrong: inputs are written out without defaults on purpose. A field that the client gets has to be added
//! here, and one that the schema renames is refused here.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    http::{StatusCode, header},
};
use base::Key;
use clients::{
    CallLimits, Component, Error, Http, Kind,
    provisioner::{
        AwsProvider, AwsZone, AzureProvider, AzureZone, Cluster, ConflictStrategy, Dns,
        DnsProvider, Entry, GcpProvider, Kyma, KymaComponent, Oidc, OpenStackProvider,
        OperationProgress, OperationState, Profile, Provider, Provision, Provisioner, RuntimeInput,
        ShootChange, Tenant, Upgrade, UpgradeShoot,
    },
};
use tokio::net::TcpListener;

use crate::service::{Service, TENANT};

const ACCOUNT: Tenant<'_> = Tenant { id: TENANT, subaccount: Some("sa-1") };

/// The status and the text of each answer.
type Answers = Arc<Mutex<Vec<(StatusCode, String)>>>;

/// A client of the service, and what it is answered.
async fn client(service: Arc<Service>) -> (Provisioner, Answers) {
    let answers = Answers::default();
    let kept = answers.clone();
    let forward = Router::new().fallback(move |body: String| {
        let (service, kept) = (service.clone(), kept.clone());
        async move {
            let reply = service.post(&serde_json::from_str(&body).unwrap()).await;
            kept.lock().unwrap().push((reply.status, reply.text.clone()));
            (reply.status, [(header::CONTENT_TYPE, "application/json")], reply.text)
        }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/graphql", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(async move { axum::serve(listener, forward).await.unwrap() });
    let http = Http::new(Component::PROVISIONER, url, CallLimits::DEFAULT).unwrap();
    (Provisioner::new(http), answers)
}

fn oidc() -> Oidc {
    Oidc {
        client_id: "client".into(),
        groups_claim: "groups".into(),
        issuer_url: "https://issuer.example.org".into(),
        signing_algs: vec!["RS256".into()],
        username_claim: "sub".into(),
        username_prefix: "-".into(),
    }
}

fn cluster(provider: &str, provider_config: Provider) -> Cluster {
    let disks = provider != "openstack";
    let dns = DnsProvider {
        domains_include: vec!["d.example.org".into()],
        primary: true,
        secret_name: "dns".into(),
        kind: "route53".into(),
    };
    Cluster {
        name: format!("c-{provider}"),
        provider: provider.into(),
        target_secret: format!("{provider}-free-1"),
        region: "region".into(),
        worker_cidr: "10.250.0.0/16".into(),
        provider_config,
        kubernetes_version: Some("1.31.2".into()),
        machine_type: Some("m5.xlarge".into()),
        machine_image: Some("gardenlinux".into()),
        machine_image_version: Some("1443.3.0".into()),
        disk_type: disks.then(|| "gp3".into()),
        volume_size_gb: disks.then_some(50),
        auto_scaler_min: Some(3),
        auto_scaler_max: Some(10),
        max_surge: Some(4),
        max_unavailable: Some(0),
        purpose: Some("development".into()),
        licence_type: Some("Demo".into()),
        enable_kubernetes_version_auto_update: Some(true),
        enable_machine_image_version_auto_update: Some(false),
        dns_config: Some(Dns { domain: "d.example.org".into(), providers: vec![dns] }),
        seed: Some("aws-eu1".into()),
        oidc_config: Some(oidc()),
        exposure_class_name: Some("internet".into()),
        shoot_networking_filter_disabled: Some(false),
        control_plane_failure_tolerance: Some("zone".into()),
        eu_access: Some(true),
    }
}

fn providers() -> [(&'static str, Provider); 4] {
    let zone = AwsZone {
        name: "1a".into(),
        public_cidr: "10.250.32.0/20".into(),
        internal_cidr: "10.250.48.0/20".into(),
        worker_cidr: "10.250.0.0/19".into(),
    };
    let aws = AwsProvider { vpc_cidr: "10.250.0.0/16".into(), aws_zones: vec![zone] };
    let azure = AzureProvider {
        vnet_cidr: "10.250.0.0/16".into(),
        zones: None,
        azure_zones: Some(vec![AzureZone { name: 2, cidr: "10.250.0.0/19".into() }]),
        enable_nat_gateway: Some(true),
        idle_connection_timeout_minutes: Some(7),
    };
    let open_stack = OpenStackProvider {
        zones: vec!["a".into()],
        floating_pool_name: Some("pool".into()),
        cloud_profile_name: Some("profile".into()),
        load_balancer_provider: "f5".into(),
    };
    [
        ("aws", Provider::Aws(aws)),
        ("azure", Provider::Azure(azure)),
        ("gcp", Provider::Gcp(GcpProvider { zones: vec!["a".into()] })),
        ("openstack", Provider::OpenStack(open_stack)),
    ]
}

fn kyma() -> Kyma {
    let entry = || Entry { key: "a".into(), value: "1".to_owned().into(), secret: true };
    let component = KymaComponent {
        component: "compass-runtime-agent".into(),
        namespace: "kyma-system".into(),
        configuration: vec![entry()],
        source_url: Some("https://charts.example.org/agent".into()),
        conflict_strategy: Some(ConflictStrategy::Merge),
    };
    Kyma {
        version: "1.22.0".into(),
        profile: Some(Profile::Evaluation),
        components: vec![component],
        configuration: vec![entry()],
        conflict_strategy: Some(ConflictStrategy::Replace),
    }
}

fn order(provider: &str, specific: Provider) -> Provision {
    Provision {
        runtime_input: RuntimeInput {
            name: format!("demo-{provider}"),
            description: Some("a demo".into()),
            labels: [("team".to_owned(), "blue".into())].into_iter().collect(),
        },
        cluster: (cluster(provider, specific), vec!["ada@example.org".into()]),
        kyma: Some(kyma()),
    }
}

fn change() -> UpgradeShoot {
    let cluster = ShootChange {
        kubernetes_version: Some("1.31.2".into()),
        machine_type: Some("m5.xlarge".into()),
        auto_scaler_min: Some(3),
        auto_scaler_max: Some(10),
        machine_image: Some("gardenlinux".into()),
        machine_image_version: Some("1443.3.0".into()),
        max_surge: Some(4),
        max_unavailable: Some(0),
        purpose: Some("testing".into()),
        enable_kubernetes_version_auto_update: Some(true),
        enable_machine_image_version_auto_update: Some(false),
        oidc_config: Some(oidc()),
        exposure_class_name: Some("internet".into()),
        shoot_networking_filter_disabled: Some(false),
    };
    UpgradeShoot { cluster, administrators: vec!["ada@example.org".into()] }
}

/// What the operation says about a runtime counts here, not whether it may begin now.
fn understood<T>(answer: Result<T, Error>) {
    if let Err(error) = answer {
        assert_ne!(error.kind, Kind::Malformed, "{error:?}");
    }
}

#[tokio::test]
async fn all_that_the_brokers_client_can_send_and_read_is_in_the_schema() {
    let service = Arc::new(Service::start().await);
    let (client, answers) = client(service.clone()).await;
    let (runtime, operation) = (service.runtime.as_str(), service.operation.as_str());
    let key = Key::named("order");

    for (provider, specific) in providers() {
        let begun = client.provision(ACCOUNT, key, &order(provider, specific)).await.unwrap();
        assert_eq!(begun.state, OperationState::InProgress);
    }
    let [aws, ..] = providers();
    let registered = order(aws.0, aws.1);
    understood(client.provision_registered(ACCOUNT, key, runtime, &registered).await);
    let versions = Upgrade { kyma: Some(kyma()), kubernetes_version: Some("1.31.2".into()) };
    understood(client.upgrade(ACCOUNT, key, runtime, &versions).await);
    understood(client.upgrade_shoot(ACCOUNT, key, runtime, &change()).await);
    understood(client.hibernate(ACCOUNT, key, runtime).await);
    understood(client.reconnect(ACCOUNT, key, runtime).await);
    understood(client.deprovision(ACCOUNT, key, runtime).await);
    understood(client.deprovision_superseding(ACCOUNT, key, runtime).await);
    client.runtime_status(ACCOUNT, runtime).await.unwrap();
    let status = client.operation_status(ACCOUNT, operation).await.unwrap();
    assert!(client.limits().await.unwrap().is_some());
    let seen = OperationProgress {
        operation: operation.into(),
        state: OperationState::InProgress,
        message: Some(String::new()),
    };
    let changed = client.follow(ACCOUNT, &seen, Duration::from_secs(1)).await.unwrap().unwrap();

    assert_eq!((changed.id, changed.state), (status.id, status.state));
    let answers = answers.lock().unwrap();
    assert_eq!(answers.len(), 15);
    for (status, text) in answers.iter() {
        assert_eq!(*status, StatusCode::OK, "{text}");
    }
}
