//! Which Shoot is a runtime's own: the one that was made for it, whatever its annotations say.

use std::time::Duration;

use clients::gardener::{RUNTIME_ANNOTATION, Shoot};
use provisioner::{
    operations::Target,
    requests,
    shoots::LEGACY_RUNTIME_ANNOTATION,
    status::{ConnectionState, Hibernation, OperationState, OperationStatus, StatusFields},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use simulators::{
    ledger::Filter,
    trouble::{self, Rule},
};
use uuid::Uuid;

use crate::world::{World, aws, caller};

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

/// How often a kubeconfig was asked for.
fn kubeconfigs(world: &World) -> usize {
    let all = world.landscape.running.landscape.ledger().all(&Filter::default()).unwrap();
    all.iter().filter(|one| one.about.route.contains("adminkubeconfig")).count()
}

/// The stored kubeconfig ends within the margin.
async fn ends_soon(world: &World, made: &OperationStatus) -> String {
    let store = &world.provisioner.parts().store;
    let id: Uuid = made.runtime_id.parse().unwrap();
    let mut kept = store.find(id).await.unwrap().unwrap().kubeconfig.unwrap();
    kept.until = world.landscape.clock.now() + Duration::from_mins(5);
    store.save_kubeconfig(id, &kept).await.unwrap();
    kept.text.expose_secret().to_owned()
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
async fn a_shoot_without_its_annotations_is_still_the_runtimes() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("bald")).await;
    let none = json!({RUNTIME_ANNOTATION: Value::Null, LEGACY_RUNTIME_ANNOTATION: Value::Null});
    let patch = json!({"metadata": {"annotations": none}});
    world.env().gardener.merge("bald", &patch).await.unwrap();

    let wider =
        requests::UpgradeShoot { auto_scaler_max: Some(31), ..requests::UpgradeShoot::default() };
    let changed =
        world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, wider).await.unwrap();
    world.success_of(&changed.id).await;
    let id = &made.runtime_id;
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    world.success_of(&removed.id).await;

    assert!(world.env().gardener.shoot("bald").await.unwrap().is_none(), "it is not forgotten");
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

/// A runtime whose uid is not stored, as that of an older program, and another one. The Shoot under the name of the first names no
/// runtime.
async fn without_uid(world: &World, name: &str) -> (OperationStatus, OperationStatus) {
    let full = trouble::Kind::Status { status: 400, body: None };
    let rule = Rule::next(1, full).on("POST", "*/shoots");
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let begun = world.provisioner.provision(&caller(), aws(name)).await.unwrap();
    world.end_of(&begun.id).await;
    let other = world.provisioned(aws("model")).await;
    let garden = &world.env().gardener;
    let model = garden.shoot("model").await.unwrap().unwrap();
    let mut mute = Shoot::named(name);
    mute.metadata.namespace.clone_from(&model.metadata.namespace);
    mute.rest.clone_from(&model.rest);
    mute.spec = model.spec;
    (mute.spec.dns, mute.spec.seed_name, mute.spec.cloud_profile_name) = (None, None, None);
    garden.create(&mute).await.unwrap();
    (begun, other)
}

fn owner(runtime: &str) -> Value {
    json!({"metadata": {"annotations": {RUNTIME_ANNOTATION: runtime}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_of_which_nobody_can_tell_whose_it_is_is_neither_deleted_nor_forgotten() {
    let world = World::sqlite().await;
    let (begun, other) = without_uid(&world, "mute").await;
    let garden = &world.env().gardener;

    let remove = async || {
        let removed = world.provisioner.deprovision(&caller(), &begun.runtime_id, false).await;
        world.end_of(&removed.unwrap().id).await
    };
    let failed = remove().await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("nothing tells whether the Shoot mute"), "{}", failed.message);
    assert!(failed.message.contains(RUNTIME_ANNOTATION), "{}", failed.message);
    garden.merge("mute", &owner(&other.runtime_id)).await.unwrap();
    assert_eq!(remove().await.state, OperationState::Succeeded);
    assert!(!garden.shoot("mute").await.unwrap().unwrap().is_going(), "it is another runtime's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kubeconfig_that_ends_within_the_margin_is_replaced() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("margin")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let good =
        provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap().kubeconfig;
    let kept = ends_soon(&world, &made).await;

    let status = provisioner.runtime_status(&caller(), id, StatusFields::ALL).await.unwrap();

    assert_eq!(good.as_deref(), Some(kept.as_str()), "one that lasts is not replaced");
    assert_ne!(status.kubeconfig.as_deref(), Some(kept.as_str()));
    let row = provisioner.parts().store.find(id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(row.kubeconfig.unwrap().text.expose_secret(), status.kubeconfig.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_uid_of_an_older_runtimes_shoot_is_kept_as_soon_as_the_annotation_names_the_runtime() {
    let world = World::sqlite().await;
    let (old, _) = without_uid(&world, "old").await;
    let (provisioner, garden) = (&world.provisioner, &world.env().gardener);
    let kept = async || {
        let looked =
            provisioner.runtime_status(&caller(), &old.runtime_id, StatusFields::ALL).await;
        looked.unwrap();
        let id = old.runtime_id.parse().unwrap();
        provisioner.parts().store.shoot_uid(id).await.unwrap()
    };

    let of_nobody = kept().await;
    let shoot = garden.merge("old", &owner(&old.runtime_id)).await.unwrap();
    let of_the_runtime = kept().await;

    assert_eq!(of_nobody, None);
    assert!(shoot.metadata.uid.is_some());
    assert_eq!(of_the_runtime, shoot.metadata.uid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_takes_the_stored_kubeconfig_while_it_lasts_and_a_new_one_when_it_asks_for_it() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("steps")).await;
    let target = target(&made, "steps");
    let taken = async |renew: bool| {
        let now = world.landscape.clock.now();
        let taken = world.env().kubeconfig(&target, now, renew).await.unwrap();
        taken.expose_secret().to_owned()
    };

    let first = taken(false).await;
    let again = taken(false).await;
    let renewed = taken(true).await;
    let after = taken(false).await;
    let ending = ends_soon(&world, &made).await;
    let replaced = taken(false).await;

    assert_eq!(again, first);
    assert_ne!(renewed, first, "it was asked for");
    assert_eq!([&after, &ending], [&renewed, &renewed], "it is stored");
    assert_ne!(replaced, ending);
}
