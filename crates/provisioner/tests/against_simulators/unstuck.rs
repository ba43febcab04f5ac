//! What operators do with operations that are stuck.

use engine::{OperationId, State};
use provisioner::{
    requests,
    status::{OperationState, StatusFields},
};
use serde_json::json;
use simulators::{
    system::System,
    trouble::{Kind, Rule},
};
use store::operations::Operations;

use crate::world::{World, aws, caller, with_kyma};

impl World {
    /// Waits until a step of an operation has failed at least once.
    async fn failing_at(&self, operation: OperationId, step: &str) {
        self.until(async || {
            let journal = self.engine_journal(&operation.to_string()).await;
            journal.iter().any(|run| run.step.as_deref() == Some(step) && run.failure.is_some())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_reached_is_removed_without_the_steps_that_are_skipped() {
    let world = World::sqlite().await;
    let made = world.provisioned(with_kyma("away", "1.22.0")).await;
    let operations = Operations::new(world.engine.clone());
    world.order("runtimes", "refuse", &json!({"id": "away"}));

    let begun = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();
    let id: OperationId = begun.id.parse().unwrap();
    for step in ["Clean_Up_Cluster", "Trigger_Uninstall"] {
        world.failing_at(id, step).await;
        operations.skip(id, step, "the cluster is away".into()).await.unwrap();
    }
    world.success_of(&begun.id).await;

    assert!(world.env().gardener.shoot("away").await.unwrap().is_none());
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 0);
    let journal = world.engine_journal(&begun.id).await;
    let told: Vec<_> = journal.iter().filter_map(|entry| entry.reason.as_deref()).collect();
    for step in ["Clean_Up_Cluster", "Trigger_Uninstall"] {
        let text = format!("step {step} skipped: the cluster is away");
        assert!(told.contains(&text.as_str()), "{told:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_canceled_leaves_the_runtime_as_it_was_and_can_be_asked_for_again() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("called")).await;
    let (provisioner, runtime) = (&world.provisioner, &made.runtime_id);
    let operations = Operations::new(world.engine.clone());
    let down = Kind::Status { status: 503, body: None };
    let rule = Rule::next(1_000_000, down).on("PATCH", "*/shoots/called");
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let wider = || requests::UpgradeShoot {
        auto_scaler_max: Some(31),
        ..requests::UpgradeShoot::default()
    };
    let most = async || {
        let status = provisioner.runtime_status(&caller(), runtime, StatusFields::NONE).await;
        status.unwrap().configuration.cluster.auto_scaler_max
    };

    let begun = provisioner.upgrade_shoot(&caller(), runtime, wider()).await.unwrap();
    let id: OperationId = begun.id.parse().unwrap();
    world.failing_at(id, "Update_Shoot").await;
    let reason = "called off by jo@example.test: not wanted any more";
    operations.cancel(id, reason.into()).await.unwrap();
    let canceled = world.end_of(&begun.id).await;
    let before = most().await;
    world.calm();
    let again = provisioner.upgrade_shoot(&caller(), runtime, wider()).await.unwrap();
    world.success_of(&again.id).await;

    let ended = operations.find(id).await.unwrap();
    assert_eq!((ended.state, ended.note.as_deref()), (State::Canceled, Some(reason)));
    assert_eq!(canceled.state, OperationState::Failed);
    assert!(!format!("{canceled:?}").contains("jo@"), "{canceled:?}");
    assert_eq!((before, most().await), (10, 31));
}

#[tokio::test(flavor = "multi_thread")]
async fn which_operator_abandoned_a_change_is_not_told_to_its_caller() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("left")).await;
    let operations = Operations::new(world.engine.clone());
    let down = Kind::Status { status: 503, body: None };
    let rule = Rule::next(1_000_000, down).on("PATCH", "*/shoots/left");
    world.landscape.running.landscape.troubles().add(rule).unwrap();
    let wider =
        requests::UpgradeShoot { auto_scaler_max: Some(31), ..requests::UpgradeShoot::default() };

    let runtime = &made.runtime_id;
    let begun = world.provisioner.upgrade_shoot(&caller(), runtime, wider).await.unwrap();
    let id: OperationId = begun.id.parse().unwrap();
    world.failing_at(id, "Update_Shoot").await;
    operations.abandon(id, "abandoned by jo@example.test: why".into()).await.unwrap();
    let ended = world.end_of(&begun.id).await;

    assert_eq!(ended.state, OperationState::Failed);
    assert_eq!(ended.message, "abandoned by an operator");
    assert!(!format!("{ended:?}").contains("jo@"), "{ended:?}");
    let journal = format!("{:?}", world.engine_journal(&begun.id).await);
    assert!(journal.contains("abandoned by jo@example.test: why"), "{journal}");
}
