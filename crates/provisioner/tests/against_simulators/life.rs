//! The life of a runtime, from the order to its end.

use clients::gardener::Shoot;
use provisioner::{
    requests,
    status::{ConnectionState, OperationState, OperationType, StatusFields},
};
use serde_json::Value;

use crate::world::{World, aws, caller, kyma, with_kyma};

async fn a_whole_life(world: World) {
    let caller = caller();
    let provisioner = &world.provisioner;

    let begun = provisioner.provision(&caller, with_kyma("life", "1.22.0")).await.unwrap();
    assert_eq!((begun.kind, begun.state), (OperationType::Provision, OperationState::InProgress));
    assert_eq!(begun.message, "Provisioning started");
    let provisioned = world.success_of(&begun.id).await;
    assert_eq!(provisioned.message, "Operation succeeded");
    assert_eq!(provisioned.last_error, None);
    let id = begun.runtime_id.clone();

    let status = provisioner.runtime_status(&caller, &id, StatusFields::ALL).await.unwrap();
    assert_eq!(status.connection.state, ConnectionState::Connected, "{:?}", status.connection);
    assert!(status.kubeconfig.unwrap().contains("client-certificate-data"));
    assert_eq!(status.hibernation.hibernated, Some(false));
    assert_eq!(status.last_operation.unwrap().id, begun.id);
    assert!(status.configuration.cluster.seed.is_some());
    let registered = world.env().director.runtime(&caller.tenant, &id).await.unwrap().unwrap();
    assert_eq!(registered.labels["gardenerClusterName"], "life");
    assert_eq!(registered.labels["team"], "blue");
    for namespace in ["kyma-system", "compass-system"] {
        let server = world.landscape.running.clusters().server();
        let secret = server.get("life", "secrets", namespace, "compass-agent-configuration");
        assert!(secret.is_some(), "the agent's token is in {namespace}");
    }

    let upgrade = requests::Upgrade { kyma: Some(kyma("1.24.11")), kubernetes_version: None };
    let upgraded = provisioner.upgrade(&caller, &id, upgrade).await.unwrap();
    assert_eq!(upgraded.kind, OperationType::Upgrade);
    world.success_of(&upgraded.id).await;
    let version = |status: &provisioner::status::RuntimeStatus| {
        status.configuration.kyma.as_ref().unwrap().version.clone()
    };
    assert_eq!(
        version(&provisioner.runtime_status(&caller, &id, StatusFields::ALL).await.unwrap()),
        "1.24.11"
    );
    let taken_back = provisioner.roll_back_upgrade(&caller, &id, StatusFields::ALL).await.unwrap();
    assert_eq!(version(&taken_back), "1.22.0");

    let bigger = requests::UpgradeShoot {
        machine_type: Some("m5.2xlarge".into()),
        auto_scaler_max: Some(20),
        administrators: vec!["grace@example.org".into()],
        ..requests::UpgradeShoot::default()
    };
    let changed = provisioner.upgrade_shoot(&caller, &id, bigger).await.unwrap();
    assert_eq!(changed.kind, OperationType::UpgradeShoot);
    world.success_of(&changed.id).await;
    let shoot = world.env().gardener.shoot("life").await.unwrap().unwrap();
    assert_eq!(worker(&shoot)["machine"]["type"], "m5.2xlarge");
    assert_eq!(worker(&shoot)["maximum"], 20);
    let status = provisioner.runtime_status(&caller, &id, StatusFields::ALL).await.unwrap();
    assert_eq!(status.configuration.cluster.machine_type, "m5.2xlarge");
    assert_eq!(status.configuration.administrators, ["grace@example.org"]);

    let before = established(&world, "life");
    let again = provisioner.reconnect_agent(&caller, &id).await.unwrap();
    assert_eq!(again.kind, OperationType::ReconnectRuntime);
    world.success_of(&again.id).await;
    assert_ne!(established(&world, "life"), before, "the connection is the old one");

    let asleep = provisioner.hibernate(&caller, &id).await.unwrap();
    world.success_of(&asleep.id).await;
    let status = provisioner.runtime_status(&caller, &id, StatusFields::ALL).await.unwrap();
    assert_eq!(status.hibernation.hibernated, Some(true));

    let removed = provisioner.deprovision(&caller, &id, false).await.unwrap();
    assert_eq!(removed.kind, OperationType::Deprovision);
    world.success_of(&removed.id).await;
    assert!(world.env().gardener.shoot("life").await.unwrap().is_none());
    assert!(world.env().director.runtime(&caller.tenant, &id).await.unwrap().is_none());
    let status = provisioner.runtime_status(&caller, &id, StatusFields::ALL).await.unwrap();
    assert_eq!(status.kubeconfig, None);
    let again = provisioner.deprovision(&caller, &id, false).await.unwrap();
    assert_eq!(again.id, removed.id, "what is gone is answered with the operation that removed it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_lives_from_order_to_end_on_sqlite() {
    Box::pin(a_whole_life(World::sqlite().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_lives_from_order_to_end_on_postgres() {
    Box::pin(a_whole_life(World::postgres().await)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_without_kyma_gets_its_agent_configured_and_goes_without_uninstalling() {
    let world = World::sqlite().await;

    let made = world.provisioned(aws("bare")).await;
    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();

    assert_eq!(made.kind, OperationType::ProvisionNoInstall);
    assert_eq!(removed.kind, OperationType::DeprovisionNoInstall);
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_kubernetes_is_upgraded_where_there_is_no_kyma() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("kube")).await;
    let shoot = world.env().gardener.shoot("kube").await.unwrap().unwrap();
    let version = shoot.spec.kubernetes.unwrap().version.unwrap();
    let next = next_minor(&world, &version);

    let wanted = requests::Upgrade { kyma: None, kubernetes_version: Some(next.clone()) };
    let begun = world.provisioner.upgrade(&caller(), &made.runtime_id, wanted).await.unwrap();
    world.success_of(&begun.id).await;

    let shoot = world.env().gardener.shoot("kube").await.unwrap().unwrap();
    assert_eq!(shoot.spec.kubernetes.unwrap().version.unwrap(), next);
    let lower = requests::Upgrade { kyma: None, kubernetes_version: Some(version) };
    let refused = world.provisioner.upgrade(&caller(), &made.runtime_id, lower).await.unwrap_err();
    assert_eq!(refused.code.number(), 400, "{refused}");
}

/// A version of Kubernetes that the cloud profile has, one minor version up.
fn next_minor(world: &World, version: &str) -> String {
    let server = world.landscape.running.clusters().server();
    let profiles = server.list("garden", "cloudprofiles.core.gardener.cloud");
    let profile = profiles.iter().find(|profile| profile["metadata"]["name"] == "aws").unwrap();
    let minor = |version: &str| version.split('.').nth(1).unwrap().parse::<u32>().unwrap();
    let versions = profile["spec"]["kubernetes"]["versions"].as_array().unwrap();
    let mut versions = versions.iter().filter_map(|one| one["version"].as_str());
    versions.find(|one| minor(one) == minor(version) + 1).unwrap().to_owned()
}

pub(crate) fn worker(shoot: &Shoot) -> &Value {
    &shoot.spec.provider.as_ref().unwrap().workers[0]
}

fn established(world: &World, runtime: &str) -> Value {
    let server = world.landscape.running.clusters().server();
    let kind = "compassconnections.compass.kyma-project.io";
    let found = server.get(runtime, kind, "", "compass-connection").unwrap();
    assert_eq!(found["status"]["connectionState"], "Synchronized");
    found["metadata"]["uid"].clone()
}
