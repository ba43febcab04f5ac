//! Which Shoot is a runtime's own: the one that was made for it, whatever its annotations say.

mod kubeconfigs;
mod unknown_owner;

use clients::gardener::{RUNTIME_ANNOTATION, Shoot};
use provisioner::{
    operations::Target,
    requests,
    status::{ConnectionState, Hibernation, OperationState, OperationStatus, StatusFields},
};

use crate::world::{World, aws, caller};
use kubeconfigs::{ends_soon, kubeconfigs};

const NOT_OURS: &str = "is not the one that was made for this runtime";

/// Deletes the Shoot and creates another one of the same name, for this runtime.
async fn replaced(world: &World, name: &str, runtime: &str) {
    let garden = &world.env().gardener;
    let old = garden.shoot(name).await.unwrap().unwrap();
    garden.delete(name).await.unwrap();
    world.until(async || garden.shoot(name).await.unwrap().is_none()).await;
    let mut shoot = Shoot::named(name);
    shoot.metadata.namespace.clone_from(&old.metadata.namespace);
    shoot.metadata.annotations =
        Some([(RUNTIME_ANNOTATION.to_owned(), runtime.to_owned())].into_iter().collect());
    shoot.rest.clone_from(&old.rest);
    shoot.spec = old.spec;
    shoot.spec.dns = None;
    shoot.spec.seed_name = None;
    // A new Shoot names its profile in one way alone.
    shoot.spec.cloud_profile_name = None;
    garden.create(&shoot).await.unwrap();
    world
        .until(async || garden.shoot(name).await.unwrap().is_some_and(|shoot| shoot.is_settled()))
        .await;
}

fn target(made: &OperationStatus, shoot: &str) -> Target {
    Target {
        runtime: made.runtime_id.parse().unwrap(),
        tenant: caller().tenant,
        registered_tenant: None,
        subaccount: "sa-1".into(),
        shoot: shoot.into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_read_from_or_written_into_a_foreign_shoot_of_the_same_name() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("swap")).await;
    replaced(&world, "swap", "11111111-2222-4333-8444-555555555555").await;
    ends_soon(&world, &made).await;
    let before = kubeconfigs(&world);
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);

    let status = provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();
    let reconnect = provisioner.reconnect_agent(&caller(), id).await.unwrap_err();
    let hibernate = provisioner.hibernate(&caller(), id).await.unwrap_err();
    let nothing = requests::UpgradeShoot::default();
    let upgrade = provisioner.upgrade_shoot(&caller(), id, nothing).await.unwrap_err();
    let now = world.landscape.clock.now();
    let in_a_step = world.env().kubeconfig(&target(&made, "swap"), now, false).await.unwrap_err();

    assert_eq!((status.kubeconfig, status.hibernation), (None, Hibernation::default()));
    assert_eq!(status.connection.state, ConnectionState::Disconnected);
    assert!(status.connection.errors[0].contains(NOT_OURS), "{:?}", status.connection);
    for refused in [reconnect, hibernate, upgrade] {
        assert_eq!(refused.code.number(), 400);
        assert!(refused.message.contains(NOT_OURS), "{refused}");
    }
    assert!(format!("{in_a_step:?}").contains(NOT_OURS), "{in_a_step:?}");
    assert_eq!(kubeconfigs(&world), before, "nobody asked for a kubeconfig");
    let server = world.landscape.running.clusters().server();
    let secret = server.get("swap", "secrets", "kyma-system", "compass-agent-configuration");
    assert!(secret.is_none(), "nothing was written");

    let removed = provisioner.deprovision(&caller(), id, false).await.unwrap();
    world.success_of(&removed.id).await;
    let foreign = world.env().gardener.shoot("swap").await.unwrap().unwrap();
    assert!(!foreign.is_going(), "it belongs to another runtime");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_shoot_that_names_the_runtime_is_neither_deleted_nor_forgotten() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("twin")).await;
    replaced(&world, "twin", &made.runtime_id).await;

    let id = &made.runtime_id;
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    let failed = world.end_of(&removed.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("although it names the runtime"), "{}", failed.message);
    let shoot = world.env().gardener.shoot("twin").await.unwrap().unwrap();
    assert!(!shoot.is_going());
    let entry = world.env().director.runtime(&caller().tenant, &made.runtime_id).await.unwrap();
    assert!(entry.is_some(), "the runtime is still registered");
}
