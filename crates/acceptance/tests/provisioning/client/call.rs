//! The calls of the client as one kind of thing.

use base::Key;
use clients::{
    Error,
    provisioner::{
        AwsProvider, AwsZone, Cluster, OperationStatus, Provider, Provision, Provisioner,
        RuntimeInput, ShootChange, Tenant, Upgrade, UpgradeShoot,
    },
};
use simulators::testing::TENANTS;

/// The name of orders.
pub(super) const KEY: Key = Key::named("order");
pub(super) const TENANT: Tenant<'_> = Tenant { id: TENANTS[0], subaccount: Some("sa-1") };
/// The version of new clusters, and the version that upgrades set.
pub(super) const VERSIONS: [&str; 2] = ["1.32.4", "1.33.0"];
/// How many nodes other settings allow.
pub(super) const NODES: i32 = 7;

/// Everything that can be asked of the provisioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Provision,
    ProvisionRegistered,
    Upgrade,
    UpgradeShoot,
    Deprovision,
    Hibernate,
    Reconnect,
    OperationStatus,
    RuntimeStatus,
    Check,
}

/// The subject of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    /// The name of the runtime and of its cluster.
    pub(super) name: String,
    pub(super) runtime: String,
    /// The operation that is asked for.
    pub(super) operation: String,
}

impl Call {
    pub(super) const ALL: [Self; 10] = [
        Self::Provision,
        Self::ProvisionRegistered,
        Self::Upgrade,
        Self::UpgradeShoot,
        Self::Deprovision,
        Self::Hibernate,
        Self::Reconnect,
        Self::OperationStatus,
        Self::RuntimeStatus,
        Self::Check,
    ];

    /// The last part of its key: what changes nothing is numbered.
    pub(super) fn key(self) -> String {
        match self {
            Self::OperationStatus | Self::RuntimeStatus | Self::Check => "1".into(),
            _ => KEY.to_string(),
        }
    }

    /// Makes the call. Gives the operation that the answer is about; there is none in that of `Check`.
    pub(super) async fn make(
        self,
        client: &Provisioner,
        subject: &Subject,
    ) -> Result<Option<String>, Error> {
        let Subject { name, runtime, operation } = subject;
        let id = |status: OperationStatus| status.id;
        match self {
            Self::Provision => client.provision(TENANT, KEY, &order(name)).await.map(id),
            Self::ProvisionRegistered => {
                client.provision_registered(TENANT, KEY, runtime, &order(name)).await.map(id)
            }
            Self::Upgrade => {
                let wanted = Upgrade { kubernetes_version: Some(VERSIONS[1].into()), kyma: None };
                client.upgrade(TENANT, KEY, runtime, &wanted).await.map(id)
            }
            Self::UpgradeShoot => {
                let cluster = ShootChange { auto_scaler_max: Some(NODES), ..Default::default() };
                let wanted = UpgradeShoot { cluster, administrators: Vec::new() };
                client.upgrade_shoot(TENANT, KEY, runtime, &wanted).await.map(id)
            }
            Self::Deprovision => client.deprovision(TENANT, KEY, runtime).await.map(Some),
            Self::Hibernate => client.hibernate(TENANT, KEY, runtime).await.map(id),
            Self::Reconnect => client.reconnect(TENANT, KEY, runtime).await.map(Some),
            Self::OperationStatus => client.operation_status(TENANT, operation).await.map(id),
            Self::RuntimeStatus => {
                let status = client.runtime_status(TENANT, runtime).await?;
                Ok(status.last_operation.and_then(id))
            }
            Self::Check => client.check().await.map(|()| None),
        }
    }
}

/// A cluster on AWS, with nothing in it.
pub(super) fn order(name: &str) -> Provision {
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
        provider_config: Provider::Aws(AwsProvider {
            vpc_cidr: "10.250.0.0/16".into(),
            aws_zones: vec![zone],
        }),
        kubernetes_version: Some(VERSIONS[0].into()),
        machine_type: Some("m5.xlarge".into()),
        disk_type: Some("gp3".into()),
        volume_size_gb: Some(50),
        auto_scaler_min: Some(3),
        auto_scaler_max: Some(10),
        max_surge: Some(3),
        max_unavailable: Some(0),
        purpose: Some("development".into()),
        ..Cluster::default()
    };
    Provision {
        runtime_input: RuntimeInput { name: name.into(), ..RuntimeInput::default() },
        cluster: (cluster, vec!["ada@example.org".into()]),
        kyma: None,
    }
}
