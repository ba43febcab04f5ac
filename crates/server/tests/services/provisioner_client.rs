//! The broker's client of the provisioner against the real service, over sockets, as `kcp up` runs both.

use std::{
    pin::Pin,
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use base::{
    Caller, Clock, Key,
    caller::{Call, Guard, Verdict},
};
use clients::{
    Kind,
    provisioner::{
        AwsProvider, AwsZone, Cluster, Kyma, OperationState, OperationStatus, OperationType,
        Provider, Provision, Provisioner, RuntimeInput, ShootChange, Tenant, UpgradeShoot,
    },
};
use secrecy::ExposeSecret;
use server::{settings, systems::SystemClients, up::Up};
use tempfile::TempDir;

const KEY: Key = Key::named("order");
const TENANT: Tenant<'_> = Tenant { id: "ga-1", subaccount: Some("sa-1") };

struct World {
    up: Up,
    provisioner: Provisioner,
    clock: Clock,
    folder: TempDir,
}

impl World {
    async fn start(speed: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings::load(None).unwrap();
        let options =
            crate::support::options(crate::support::free_ports(), folder.path(), speed, settings);
        let up = Up::start(options).await.unwrap();
        let clock = Clock::running();
        let settings = settings::load(Some(&folder.path().join("broker.toml"))).unwrap();
        let systems = SystemClients::open(&settings.systems, &settings.gates()).await.unwrap();
        Self { up, provisioner: systems.provisioner.unwrap(), clock, folder }
    }

    /// Asks until an operation has ended.
    async fn end_of(&self, operation: &str) -> OperationStatus {
        for _ in 0..1_200 {
            let status = self.provisioner.operation_status(TENANT, operation).await.unwrap();
            if !matches!(status.state, OperationState::InProgress | OperationState::Pending) {
                return status;
            }
            self.clock.sleep(Duration::from_millis(50)).await;
        }
        panic!("the operation does not end");
    }
}

fn order(name: &str) -> Provision {
    let zone = AwsZone {
        name: "eu-central-1a".into(),
        worker_cidr: "10.250.0.0/19".into(),
        public_cidr: "10.250.32.0/20".into(),
        internal_cidr: "10.250.48.0/20".into(),
    };
    let cluster = Cluster {
        name: name.into(),
        provider: "aws".into(),
        target_secret: "aws-free-1".into(),
        region: "eu-central-1".into(),
        worker_cidr: "10.250.0.0/16".into(),
        machine_type: Some("m5.xlarge".into()),
        disk_type: Some("gp3".into()),
        volume_size_gb: Some(50),
        auto_scaler_min: Some(3),
        auto_scaler_max: Some(10),
        max_surge: Some(3),
        max_unavailable: Some(0),
        purpose: Some("development".into()),
        eu_access: Some(true),
        provider_config: Provider::Aws(AwsProvider {
            vpc_cidr: "10.250.0.0/16".into(),
            aws_zones: vec![zone],
        }),
        ..Cluster::default()
    };
    Provision {
        runtime_input: RuntimeInput {
            name: format!("runtime-{name}"),
            description: Some("hostile \"'\\\n}){ ü".into()),
            labels: [("team".to_owned(), "blue".into())].into_iter().collect(),
        },
        cluster: (cluster, vec!["ada@example.org".into()]),
        kyma: None,
    }
}

fn bigger() -> UpgradeShoot {
    let cluster = ShootChange { auto_scaler_max: Some(20), ..ShootChange::default() };
    UpgradeShoot { cluster, administrators: vec!["grace@example.org".into()] }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_lives_from_order_to_end() {
    let world = World::start("max").await;
    let provisioner = &world.provisioner;
    provisioner.check().await.unwrap();
    let limits = provisioner.limits().await.unwrap().unwrap();
    assert_eq!((limits.provisioning, limits.deprovisioning), (255 * 60, 295 * 60));

    // Only a runtime with Kyma has an agent to reconnect.
    let kyma = Kyma { version: "1.22.0".into(), ..Kyma::default() };
    let order = Provision { kyma: Some(kyma), ..order("life") };
    let begun = provisioner.provision(TENANT, KEY, &order).await.unwrap();
    let (operation, runtime) = (begun.id.unwrap(), begun.runtime_id.unwrap());
    let provisioned = world.end_of(&operation).await;
    let status = provisioner.runtime_status(TENANT, &runtime).await.unwrap();
    let changed = provisioner.upgrade_shoot(TENANT, KEY, &runtime, &bigger()).await.unwrap();
    let changed = world.end_of(&changed.id.unwrap()).await;
    let after = provisioner.runtime_status(TENANT, &runtime).await.unwrap();
    let again = provisioner.reconnect(TENANT, KEY, &runtime).await.unwrap();
    let again = world.end_of(&again).await;
    let asleep = provisioner.hibernate(TENANT, KEY, &runtime).await.unwrap();
    let asleep = world.end_of(&asleep.id.unwrap()).await;
    let removal = provisioner.deprovision(TENANT, KEY, &runtime).await.unwrap();
    let removed = world.end_of(&removal).await;

    assert_eq!(begun.operation, OperationType::Provision);
    for ended in [&provisioned, &changed, &again, &asleep, &removed] {
        assert_eq!(ended.state, OperationState::Succeeded, "{ended:?}");
        assert_eq!(ended.last_error, None);
    }
    assert!(status.kubeconfig().unwrap().expose_secret().contains("client-certificate-data"));
    let cluster = status.cluster().unwrap();
    assert_eq!((cluster.name.as_deref(), cluster.auto_scaler_max), (Some("life"), Some(10)));
    assert_eq!(after.cluster().unwrap().auto_scaler_max, Some(20));
    assert_eq!(asleep.operation, OperationType::Hibernate);
    world.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_tell_what_to_do() {
    let world = World::start("1").await;
    let provisioner = &world.provisioner;
    let nobody = "5d1c0c1e-0000-4000-8000-000000000001";
    let mut wrong = order("wrong");
    wrong.cluster.0.provider = "moon".into();

    let begun = provisioner.provision(TENANT, KEY, &order("busy")).await.unwrap();
    let runtime = begun.runtime_id.unwrap();
    let busy = provisioner.upgrade_shoot(TENANT, KEY, &runtime, &bigger()).await.unwrap_err();
    let refused = provisioner.provision(TENANT, KEY, &wrong).await.unwrap_err();
    let missing = provisioner.deprovision(TENANT, KEY, nobody).await.unwrap_err();
    let unknown = provisioner.operation_status(TENANT, nobody).await.unwrap_err();
    let tenantless = provisioner.runtime_status(Tenant::new(""), &runtime).await.unwrap_err();

    assert_eq!(busy.kind, Kind::Busy, "{busy:?}");
    assert_eq!(refused.kind, Kind::Refused { status: 400 }, "{refused:?}");
    assert_eq!(missing.kind, Kind::NotFound, "{missing:?}");
    assert_eq!(unknown.kind, Kind::NotFound, "{unknown:?}");
    assert!(matches!(tenantless.kind, Kind::Refused { .. }), "{tenantless:?}");
    world.up.stop().await;
}

struct Always;

impl Guard for Always {
    fn before<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
    fn after<'a>(&'a self, _: &'a Call) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_repeated_by_its_step_is_the_same_order() {
    let world = World::start("1").await;
    let operation = uuid::Uuid::new_v4();
    let caller = |run| Caller {
        operation,
        root: operation,
        step: "Create_Runtime".into(),
        run,
        epoch: 1,
        replica: uuid::Uuid::new_v4(),
        calls: Arc::new(AtomicU32::default()),
        key_per_run: false,
        guard: Arc::new(Always),
    };
    let order = order("once");

    let first =
        Box::pin(caller(1).scope(world.provisioner.provision(TENANT, KEY, &order))).await.unwrap();
    let second =
        Box::pin(caller(2).scope(world.provisioner.provision(TENANT, KEY, &order))).await.unwrap();

    assert_eq!((first.id, first.runtime_id), (second.id, second.runtime_id));
    world.up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_nobody_is_let_in() {
    let world = World::start("max").await;
    let text = std::fs::read_to_string(world.folder.path().join("broker.toml")).unwrap();
    let url = text.lines().find(|line| line.contains("/graphql")).unwrap();
    let file = world.folder.path().join("open.toml");
    std::fs::write(&file, format!("[systems.provisioner]\n{url}\n")).unwrap();
    let settings = settings::load(Some(&file)).unwrap();
    let systems = SystemClients::open(&settings.systems, &settings.gates()).await.unwrap();

    let refused = systems.provisioner.unwrap().check().await.unwrap_err();

    assert_eq!(refused.kind, Kind::Unauthorized, "{refused:?}");
    world.up.stop().await;
}
