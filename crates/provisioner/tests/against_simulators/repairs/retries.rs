//! Retries of what failed, and changes after it.

use std::time::Duration;

use provisioner::{limits::StageLimits, status::OperationState};
use simulators::trouble::{Kind, Rule};
use store::testing::TestDatabase;

use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_counts_for_callers_that_follow_the_operation_that_failed() {
    let world = World::sqlite().await;
    world.trouble("gardener", 1_000_000, Kind::Status { status: 503, body: None });
    let begun = world.provisioner.provision(&caller(), aws("again")).await.unwrap();
    let operations = store::operations::Operations::new(world.engine.clone());
    let id = begun.id.parse().unwrap();

    operations.abandon(id, "the garden is away".into()).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    world.calm();
    let retried = operations.retry(id).await.unwrap();
    let ended = world.success_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert_eq!(failed.message, "the garden is away");
    assert_eq!((ended.id, ended.runtime_id), (begun.id, begun.runtime_id));
    assert_eq!(world.success_of(&retried.id.to_string()).await.state, OperationState::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_made_can_be_changed_after_a_later_step_failed() {
    let limits = StageLimits { agent_connection: Duration::from_secs(3), ..StageLimits::default() };
    let world = World::on(TestDatabase::sqlite(), limits).await;
    let rule = Rule {
        path: Some("/connector".into()),
        ..Rule::next(1_000_000, Kind::Status { status: 403, body: None })
    };
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let begun = world.provisioner.provision(&caller(), with_kyma("half", "1.22.0")).await.unwrap();
    let failed = world.end_of(&begun.id).await;
    world.calm();

    let id = &begun.runtime_id;
    let again = world.provisioner.reconnect_agent(&caller(), id).await.unwrap();

    assert_eq!(failed.state, OperationState::Failed);
    world.success_of(&again.id).await;
}
