//! The fault table of the Director and of the agent that connects to it.

use provisioner::{Caller, status::OperationState};
use simulators::{
    system::System,
    trouble::{Kind, Rule},
};

use super::{it_can_be_removed, order};
use crate::world::{World, aws, caller, with_kyma};

#[tokio::test(flavor = "multi_thread")]
async fn a_director_that_is_down_delays_and_loses_nothing() {
    let world = World::sqlite().await;
    let begun = order(&world, "down").await;
    world.trouble("director", 5, Kind::Down { refuse: false });

    world.success_of(&begun.id).await;

    // Not for the agent of the first one, which goes on calling.
    let down = Rule::next(1, Kind::Down { refuse: true }).of("director").holding("registerRuntime");
    world.landscape.running.landscape.troubles().add(down).unwrap();
    let keyed = Caller { idempotency_key: Some("k".into()), ..caller() };
    let refused = world.provisioner.provision(&keyed, aws("later")).await.unwrap_err();
    assert!(
        !(400..500).contains(&refused.code.number()),
        "the caller shall try again: {refused:?}"
    );
    let accepted = world.provisioner.provision(&keyed, aws("later")).await.unwrap();
    world.success_of(&accepted.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_whose_answer_was_lost_is_found_again() {
    let world = World::sqlite().await;
    world.trouble("director", 1, Kind::LostAnswer { status: None });

    let begun = order(&world, "lost").await;

    world.success_of(&begun.id).await;
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_never_connects_fails_the_operation_in_the_end() {
    let limits = provisioner::limits::StageLimits {
        agent_connection: std::time::Duration::from_secs(5),
        ..provisioner::limits::StageLimits::default()
    };
    let world = World::on(store::testing::TestDatabase::sqlite(), limits).await;
    let rule = Rule {
        path: Some("/connector".into()),
        ..Rule::next(1_000_000, Kind::Status { status: 403, body: None })
    };
    world.landscape.running.landscape.troubles().add(rule).unwrap();

    let begun = world.provisioner.provision(&caller(), with_kyma("deaf", "1.22.0")).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    let error = failed.last_error.clone().unwrap();
    assert_eq!(error.component, "compass connection", "{error:?}");
    it_can_be_removed(&world, &failed.runtime_id, "deaf").await;
}
