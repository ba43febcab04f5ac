//! Shoots that no instance has are removed where that is allowed, and nowhere else.

use std::time::Duration;

use broker::jobs::{EnvironmentSettings, Error, Settings};
use clients::gardener::RUNTIME_ANNOTATION;
use serde_json::json;
use uuid::Uuid;

use crate::world::World;

fn allowed() -> Settings {
    let older_than = Duration::from_millis(1);
    let environments =
        EnvironmentSettings { allowed: true, older_than, ..EnvironmentSettings::default() };
    Settings { environments, ..Settings::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn shoots_without_an_instance_are_deleted_and_others_stay() {
    let world = World::new(allowed()).await;
    let row = world.made(2, "there", Some(Uuid::from_u128(7))).await;
    world.shoot(&row.shoot_name, json!({})).await;
    world.shoot("by-runtime", json!({RUNTIME_ANNOTATION: Uuid::from_u128(7).to_string()})).await;
    world.shoot("nobodys", json!({})).await;

    assert_eq!(world.counts("environment-cleanup", true).await, [1, 1, 0, 0]);
    assert!(world.has_shoot("nobodys").await);
    assert_eq!(world.counts("environment-cleanup", false).await, [1, 1, 0, 0]);
    assert!(!world.has_shoot("nobodys").await);
    assert!(world.has_shoot("by-runtime").await && world.has_shoot(&row.shoot_name).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn young_shoots_and_those_that_the_selector_leaves_out_stay() {
    let mut settings = allowed();
    settings.environments.older_than = Duration::from_hours(1);
    let world = World::new(settings).await;
    world.shoot("young", json!({})).await;
    assert_eq!(world.counts("environment-cleanup", false).await, [0, 0, 0, 0]);
    assert!(world.has_shoot("young").await);

    let world = World::new(allowed()).await;
    world.shoot_with("kept", "/metadata/labels/owner.do-not-delete", "true").await;
    world.shoot("nobodys", json!({})).await;
    assert_eq!(world.counts("environment-cleanup", false).await, [1, 1, 0, 0]);
    assert!(world.has_shoot("kept").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_the_provisioner_knows_is_not_deleted_behind_its_back() {
    let world = World::new(allowed()).await;
    world.shoot("known", json!({RUNTIME_ANNOTATION: Uuid::from_u128(7).to_string()})).await;

    // The provisioner is down.
    assert_eq!(world.counts("environment-cleanup", false).await, [1, 0, 0, 1]);
    assert!(world.has_shoot("known").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_the_provisioner_knows_is_removed_through_it_alone() {
    let world = World::with_provisioner(allowed()).await;
    let runtime = Uuid::from_u128(7).to_string();
    world.provisioner.add(&runtime, "ga-1", "");
    world.shoot("known", json!({RUNTIME_ANNOTATION: runtime})).await;

    assert_eq!(world.counts("environment-cleanup", true).await, [1, 1, 0, 0]);
    assert_eq!(world.provisioner.removals(), Vec::<String>::new());
    let run = world.run("environment-cleanup", false).await;

    let told = &run.report.details[0].text;
    assert_eq!(told, &format!("removed by the provisioner, operation removal-of-{runtime}"));
    assert_eq!(world.provisioner.removals(), [runtime]);
    assert!(world.has_shoot("known").await, "this provisioner deletes no Shoots, nor may the job");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_the_provisioner_does_not_know_is_deleted_in_the_garden() {
    let world = World::with_provisioner(allowed()).await;
    // It knows the runtime, but of another account.
    let runtime = Uuid::from_u128(7).to_string();
    world.provisioner.add(&runtime, "ga-2", "");
    world.shoot("unknown", json!({RUNTIME_ANNOTATION: runtime})).await;

    let run = world.run("environment-cleanup", false).await;

    assert_eq!(run.report.details[0].text, "deleted in the garden");
    assert_eq!(world.provisioner.removals(), Vec::<String>::new());
    assert!(!world.has_shoot("unknown").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_guard_it_does_not_run() {
    let world = World::new(Settings::default()).await;
    world.shoot("nobodys", json!({})).await;

    let refused = world.jobs.run("environment-cleanup", false, "jo").await.unwrap_err();

    assert!(matches!(refused, Error::Impossible { .. }), "{refused}");
    assert!(refused.to_string().contains("jobs.environment_cleanup.allowed"), "{refused}");
    assert!(!world.jobs.find("environment-cleanup").await.unwrap().enabled);
    assert!(world.has_shoot("nobodys").await);
}
