//! The fault table: what happens when Gardener does not do what it should.

mod director;
mod interruptions;
mod shoots;

use provisioner::status::{OperationState, OperationStatus};
use serde_json::json;
use simulators::trouble::{Cut, Kind};

use crate::world::{World, aws, caller};

async fn order(world: &World, name: &str) -> OperationStatus {
    world.provisioner.provision(&caller(), aws(name)).await.unwrap()
}

/// After a failure only a deprovisioning is accepted, and it removes everything.
async fn only_deprovisioning_is_left(world: &World, failed: &OperationStatus, shoot: &str) {
    let id = &failed.runtime_id;
    let refused = world.provisioner.hibernate(&caller(), id).await.unwrap_err();
    assert!(refused.message.contains("only be deprovisioned"), "{refused}");
    it_can_be_removed(world, id, shoot).await;
}

async fn it_can_be_removed(world: &World, id: &str, shoot: &str) {
    let removed = world.provisioner.deprovision(&caller(), id, false).await.unwrap();
    world.success_of(&removed.id).await;
    assert!(world.env().gardener.shoot(shoot).await.unwrap().is_none());
    assert!(world.env().director.runtime(&caller().tenant, id).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_error_ends_the_operation_with_gardeners_code() {
    let world = World::sqlite().await;
    let scenario = "fail=ERR_INFRA_QUOTA_EXCEEDED@40";
    world.order("gardener", "scenario", &json!({"scenario": scenario}));

    let failed = world.end_of(&order(&world, "quota").await.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    let error = failed.last_error.clone().unwrap();
    assert_eq!(
        (error.reason.as_str(), error.component.as_str()),
        ("ERR_INFRA_QUOTA_EXCEEDED", "gardener")
    );
    assert!(
        failed.message.starts_with("cluster provisioning failed. Last Shoot state: Failed"),
        "{}",
        failed.message
    );
    assert_eq!(failed.errors, std::slice::from_ref(&failed.message));
    only_deprovisioning_is_left(&world, &failed, "quota").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_limits_and_passing_trouble_are_waited_for() {
    let world = World::sqlite().await;
    let scenario = "error-then-recover=ERR_INFRA_RATE_LIMITS_EXCEEDED@40";
    world.order("gardener", "scenario", &json!({"scenario": scenario}));

    let begun = order(&world, "limits").await;

    world.success_of(&begun.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gardener_that_throttles_breaks_and_resets_is_tried_again() {
    let world = World::sqlite().await;
    let ways = [
        Kind::Busy { retry_after_seconds: 1, as_date: false },
        Kind::Status { status: 500, body: None },
        Kind::Reset { when: Cut::default() },
        Kind::LostAnswer { status: None },
        Kind::Malformed { body: None },
        Kind::Status { status: 404, body: Some("404 page not found".into()) },
    ];
    for trouble in ways {
        world.trouble("gardener", 1, trouble);
    }

    let begun = order(&world, "rough").await;

    world.success_of(&begun.id).await;
    assert_eq!(world.applied("gardener", "POST", "shoots"), 1, "one Shoot was made");
}
