//! Shoots that do not say whose they are: without annotations, or without a stored uid.

use clients::gardener::{RUNTIME_ANNOTATION, Shoot};
use provisioner::{
    requests,
    shoots::LEGACY_RUNTIME_ANNOTATION,
    status::{OperationState, OperationStatus, StatusFields},
};
use serde_json::{Value, json};
use simulators::trouble::{self, Rule};

use crate::world::{World, aws, caller};

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
