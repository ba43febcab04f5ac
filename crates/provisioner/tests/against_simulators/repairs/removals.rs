//! Removals after failures, and what the Director learns late.

use std::time::Duration;

use provisioner::{
    chores::{abandoned_intents, failed_runtimes},
    requests,
    shoots::{LEGACY_OPERATION_ANNOTATION, OPERATION_ANNOTATION},
    status::OperationState,
};
use serde_json::{Value, json};
use simulators::{
    system::System,
    trouble::{Kind, Rule},
};

use super::scenario;
use crate::world::{World, aws, caller};

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_supersedes_ends_what_cannot_end() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &json!({"scenario": "no-seed"}));
    let begun = world.provisioner.provision(&caller(), aws("stuck")).await.unwrap();
    let id = &begun.runtime_id;
    let garden = &world.env().gardener;
    world.until(async || garden.shoot("stuck").await.unwrap().is_some()).await;

    let busy = world.provisioner.deprovision(&caller(), id, false).await.unwrap_err();
    let removed = world.provisioner.deprovision(&caller(), id, true).await.unwrap();
    let again = world.provisioner.deprovision(&caller(), id, true).await.unwrap();
    world.success_of(&removed.id).await;

    assert!(busy.message.contains("while previous one is in progress"), "{busy}");
    assert_eq!(again.id, removed.id);
    let ended = world.end_of(&begun.id).await;
    assert_eq!(ended.state, OperationState::Failed);
    assert!(ended.message.contains("called off by deprovisioning"), "{}", ended.message);
    assert!(garden.shoot("stuck").await.unwrap().is_none());
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_leaves_its_mark_on_the_shoot_under_both_names() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("mark")).await;
    scenario(&world, "mark", json!("stuck-delete")).await;

    let id = &made.runtime_id;
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    let garden = &world.env().gardener;
    let going = async || garden.shoot("mark").await.unwrap().is_some_and(|shoot| shoot.is_going());
    world.until(going).await;

    let shoot = garden.shoot("mark").await.unwrap().unwrap();
    for annotation in [OPERATION_ANNOTATION, LEGACY_OPERATION_ANNOTATION] {
        assert_eq!(shoot.annotation(annotation), Some(removed.id.as_str()), "{annotation}");
    }
    scenario(&world, "mark", Value::Null).await;
    world.success_of(&removed.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_director_learns_of_a_failure_however_long_it_was_away() {
    let world = World::sqlite().await;
    let quota = "fail=ERR_INFRA_QUOTA_EXCEEDED@40";
    world.order("gardener", "scenario", &json!({"scenario": quota}));
    let begun = world.provisioner.provision(&caller(), aws("told")).await.unwrap();
    let before = failed_runtimes::tell(&world.provisioner).await.unwrap();
    world.end_of(&begun.id).await;
    world.trouble("director", 1_000, Kind::Down { refuse: false });

    let away = failed_runtimes::tell(&world.provisioner).await.unwrap();
    world.calm();
    // Nothing of the first attempt is left but what is stored.
    let later = world.later(Duration::from_hours(1));
    let told = failed_runtimes::tell(&later).await.unwrap();
    let again = failed_runtimes::tell(&later).await.unwrap();

    assert_eq!((before, away, told, again), (0, 0, 1, 0));
    let entries = world.landscape.running.landscape.director().objects();
    assert!(format!("{entries:?}").contains("FAILED"), "{entries:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_could_not_be_taken_back_is_taken_back_later() {
    let world = World::sqlite().await;
    world.provisioned(aws("name")).await;
    let taken = requests::Provision { name: "another".into(), ..aws("name") };
    let rule = Rule {
        system: Some("director".into()),
        body: Some("unregisterRuntime".into()),
        ..Rule::next(1, Kind::Status { status: 503, body: None })
    };
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let refused = world.provisioner.provision(&caller(), taken).await.unwrap_err();
    let registered = || world.landscape.running.landscape.director().objects().len();
    let left = registered();
    let cleaned = abandoned_intents::clean(&world.later(Duration::from_hours(1))).await.unwrap();

    assert!(refused.message.contains("another runtime has the name"), "{refused}");
    assert_eq!((left, cleaned, registered()), (2, 1, 1));
}
