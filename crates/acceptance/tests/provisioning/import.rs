//! A runtime that the original programs have made, as far as their rows say, lives on here: it is imported from both of their
//! databases, changed and removed.

mod rows;

use broker::{
    Order,
    import::Import,
    instances::{Caller, Deprovision, Update, Upgrade, UpgradeTarget},
};
use clients::provisioner::Tenant;
use domain::OperationId;
use engine::State;
use provisioner::import::Import as RuntimeImport;
use secrecy::ExposeSecret;
use serde_json::json;
use store::{
    import::{KebSource, Mode, ProvisionerSource, SourceKey},
    testing::originals::OriginalDatabase,
};
use uuid::Uuid;

use crate::{
    orders::OrderSpec,
    outside::Outside,
    service::{PROJECT, Service},
    suspension::use_cases,
    test_broker::Broker,
    updating::trying::shoot,
    upgrading::{
        KUBERNETES, KYMA,
        views::{kubernetes, reconciled},
    },
    view::View,
};

const KEY: &str = "the original's key: 32 bytes!!!!";

fn key() -> SourceKey {
    SourceKey::new(KEY.to_owned().into()).unwrap()
}

/// What the original programs would have, had they made the runtime.
async fn originals(
    outside: &Outside,
    broker: &Broker,
    instance: &str,
) -> (OriginalDatabase, OriginalDatabase) {
    let keb = OriginalDatabase::keb().await;
    rows::of_instance(&keb, broker, instance).await;
    let provisioner = OriginalDatabase::provisioner().await;
    let row = broker.store.find(instance).await.unwrap().unwrap();
    rows::of_runtime(&provisioner, &outside.service.store, row.runtime_id.unwrap()).await;
    (keb, provisioner)
}

async fn import(outside: &Outside, broker: &Broker, from: &(OriginalDatabase, OriginalDatabase)) {
    let url = |database: &OriginalDatabase| database.url().to_owned().into();
    let mut source = ProvisionerSource::open(&url(&from.1), Some(key())).await.unwrap();
    let (store, mode) = (&outside.service.store, Mode::Apply);
    let runtimes = RuntimeImport { store, project: PROJECT, mode, unfinished: false };
    let report = runtimes.run(&mut source).await.unwrap();
    assert_eq!(report.counts["runtimes"].taken, 1, "{report:#?}");
    let mut source = KebSource::open(&url(&from.0), Some(key())).await.unwrap();
    let (store, catalog, clock) = (&broker.store, &*outside.catalog, &outside.clock);
    let instances = Import { store, catalog, mode, unfinished: false, clock };
    let report = Box::pin(instances.run(&mut source)).await.unwrap();
    assert_eq!(report.counts["instances"].taken, 1, "{report:#?}");
    assert!(report.findings.is_empty(), "{report:#?}");
}

/// The runtime's kubeconfig, as the provisioner tells it.
async fn kubeconfig_of(outside: &Outside, order: &Order, runtime: Uuid) -> Option<String> {
    let env = outside.env(&outside.clock).await;
    let context = &order.context;
    let tenant = Tenant { id: &context.globalaccount_id, subaccount: Some(&context.subaccount_id) };
    let status = env.provisioner.runtime_status(tenant, &runtime.to_string()).await.unwrap();
    status.kubeconfig().map(|kubeconfig| kubeconfig.expose_secret().to_owned())
}

async fn succeeds(broker: &Broker, operation: &OperationId) {
    let ended = broker.end_of(operation.uuid()).await;
    assert_eq!(ended.state, State::Succeeded, "{:?}", ended.failure);
    assert!(ended.incomplete.is_empty(), "{:?}", ended.incomplete);
}

/// Upgrades its Kyma and then its cluster.
async fn upgrades(outside: &Outside, broker: &Broker, instance: &str) {
    let kyma = UpgradeTarget::Kyma { version: Some(KYMA.into()) };
    let cluster = UpgradeTarget::Cluster {
        kubernetes_version: Some(KUBERNETES.into()),
        machine_image: None,
        machine_image_version: None,
    };
    for target in [kyma, cluster] {
        let (id, cases) = (OperationId::new(), use_cases(outside, broker));
        let change = Upgrade { orchestration: None, dry_run: false, notify: false, target };
        cases.upgrade(instance, id.clone(), change).await.unwrap();
        succeeds(broker, &id).await;
        // The next upgrade waits for that.
        broker.end_maintenance().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_runtime_is_changed_and_upgraded_and_removed_to_the_end() {
    let mut outside = Outside::start(&["aws"], 1).await;
    let first = Broker::start(&outside).await;
    let made = first.provision(&outside, &OrderSpec::aws("imported")).await.succeeded();
    let (order, runtime) = (made.order.clone(), made.details.runtime_id.unwrap());
    let from = originals(&outside, &first, &order.instance_id).await;
    let uid = outside.service.store.shoot_uid(runtime).await.unwrap();
    drop(first);
    outside.service = Service::start(&outside.running, &outside.clock).await;
    let broker = Broker::start(&outside).await;
    assert!(broker.store.find(&order.instance_id).await.unwrap().is_none());

    import(&outside, &broker, &from).await;

    assert_eq!(outside.service.store.shoot_uid(runtime).await.unwrap(), None);
    assert!(kubeconfig_of(&outside, &order, runtime).await.is_some(), "it is asked for anew");
    let (cases, caller) = (use_cases(&outside, &broker), Caller::default());
    let request = Update {
        instance_id: order.instance_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: String::new(),
        context: Some(json!({"license_type": "PARTNER"})),
        parameters: Some(
            json!({"autoScalerMin": 4, "autoScalerMax": 9, "machineType": "m6i.2xlarge"}),
        ),
        accepts_incomplete: true,
        maintenance_version: None,
    };
    let updated = Box::pin(cases.update(&caller, request)).await.unwrap();
    succeeds(&broker, &updated.operation.unwrap()).await;
    assert_eq!(shoot(&outside, &order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
    assert_eq!(outside.service.store.shoot_uid(runtime).await.unwrap(), uid);
    let kyma = || reconciled(&outside, &runtime.to_string());
    let configurations = kyma()[2].as_u64().unwrap();
    upgrades(&outside, &broker, &order.instance_id).await;
    assert_eq!(kyma(), json!([KYMA, "ready", configurations + 1]));
    assert_eq!(kubernetes(&outside, &order.shoot_name), KUBERNETES);
    assert_eq!(shoot(&outside, &order.shoot_name), json!(["m6i.2xlarge", 4, 9]), "as it was");
    assert_eq!(outside.service.store.shoot_uid(runtime).await.unwrap(), uid);
    let request = Deprovision {
        instance_id: order.instance_id.clone(),
        service_id: order.service_id.clone(),
        plan_id: order.plan_id.clone(),
        accepts_incomplete: true,
    };
    let removal = Box::pin(cases.deprovision(&caller, request)).await.unwrap();
    succeeds(&broker, &removal).await;
    let left = View::of(&outside, &broker.store, &order).left().await;
    assert_eq!(left, Vec::<String>::new());
}
