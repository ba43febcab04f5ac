//! The fault table: what happens when an outside system does not do what it should.

use provisioner::{
    Caller, requests,
    status::{OperationState, OperationStatus, StatusFields},
};
use serde_json::json;
use simulators::{
    system::System,
    trouble::{Cut, Kind, Rule},
};

use crate::world::{World, aws, caller, with_kyma};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_that_somebody_deleted_ends_the_operation() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &json!({"scenario": "disappear@50"}));

    let failed = world.end_of(&order(&world, "gone").await.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    assert!(failed.message.contains("deleted by another client"), "{}", failed.message);
    only_deprovisioning_is_left(&world, &failed, "gone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_gardener_refuses_is_not_stored() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("refuse")).await;
    let wanted = requests::UpgradeShoot {
        machine_type: Some("no.such.machine".into()),
        ..requests::UpgradeShoot::default()
    };

    let begun = world.provisioner.upgrade_shoot(&caller(), &made.runtime_id, wanted).await.unwrap();
    let failed = world.end_of(&begun.id).await;

    assert_eq!(failed.state, OperationState::Failed);
    let error = failed.last_error.unwrap();
    assert_eq!(
        (error.component.as_str(), error.reason.as_str()),
        ("k8s client - gardener", "Forbidden")
    );
    assert!(error.message.contains("no.such.machine"), "{}", error.message);
    let field = "spec.provider.workers[0].machine.type";
    assert!(error.message.contains(field), "{}", error.message);
    assert!(!error.message.contains("credentials"), "{}", error.message);
    let status = world
        .provisioner
        .runtime_status(&caller(), &made.runtime_id, StatusFields::ALL)
        .await
        .unwrap();
    assert_eq!(status.configuration.cluster.machine_type, "m5.xlarge");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_kubeconfig_is_replaced() {
    let world = World::sqlite().await;
    let made = world.provisioned(aws("expired")).await;
    world.landscape.running.install_agent("expired");
    let id = made.runtime_id.parse().unwrap();
    let store = &world.provisioner.parts().store;
    let kept = store.find(id).await.unwrap().unwrap().kubeconfig.unwrap();
    // What is stored looks good for a while, and is not accepted any more.
    let server = world.landscape.running.clusters().server();
    let who = cluster_identity();
    let short = jiff::SignedDuration::from_secs(-60);
    let dead = server.kubeconfig_with_certificate("expired", "expired", &who, short).unwrap();
    let dead = store::provisioner::Kubeconfig { text: dead.into(), until: kept.until };
    store.save_kubeconfig(id, &dead).await.unwrap();

    let begun = world.provisioner.reconnect_agent(&caller(), &made.runtime_id).await.unwrap();

    world.success_of(&begun.id).await;
}

fn cluster_identity() -> cluster::Identity {
    cluster::Identity::admin("kcp-provisioner")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_reached_inside_is_deleted_all_the_same() {
    let limits = provisioner::limits::StageLimits {
        cluster_cleanup: std::time::Duration::from_secs(2),
        uninstall_triggering: std::time::Duration::from_secs(2),
        ..provisioner::limits::StageLimits::default()
    };
    let world = World::on(store::testing::TestDatabase::sqlite(), limits).await;
    let made = world.provisioned(with_kyma("mute", "1.22.0")).await;
    world.order("runtimes", "refuse", &json!({"id": "mute"}));

    let removed = world.provisioner.deprovision(&caller(), &made.runtime_id, false).await.unwrap();

    world.success_of(&removed.id).await;
    assert!(world.env().gardener.shoot("mute").await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_in_thirty_failing_everywhere_changes_nothing_in_the_end() {
    let world = World::sqlite().await;
    for system in ["gardener", "director", "runtimes"] {
        world.unrest(system, 0.033);
    }
    let mut begun = Vec::new();
    for at in 0..5 {
        let keyed = Caller { idempotency_key: Some(format!("k-{at}")), ..caller() };
        let request = || with_kyma(&format!("rough-{at}"), "1.22.0");
        let accepted = loop {
            match world.provisioner.provision(&keyed, request()).await {
                Ok(accepted) => break accepted,
                Err(error) => assert!(!(400..500).contains(&error.code.number()), "{error:?}"),
            }
        };
        begun.push(accepted);
    }

    for one in &begun {
        world.success_of(&one.id).await;
    }
    for one in &begun {
        let removed =
            world.provisioner.deprovision(&caller(), &one.runtime_id, false).await.unwrap();
        world.success_of(&removed.id).await;
    }
    world.calm();
    assert!(world.env().gardener.shoots("").await.unwrap().is_empty());
    assert!(world.landscape.running.landscape.director().objects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_replica_goes_on_where_one_was_killed() {
    let mut world = World::postgres().await;
    let other = world.another().await;
    let mut begun = Vec::new();
    for at in 0..10 {
        let request = with_kyma(&format!("r-{at}"), "1.22.0");
        begun.push(world.provisioner.provision(&caller(), request).await.unwrap());
    }

    world.engine.kill();

    world.provisioner = other.clone();
    world.engine = other.parts().engine.clone();
    for one in &begun {
        world.success_of(&one.id).await;
    }
    assert_eq!(world.landscape.running.landscape.director().objects().len(), 10);
}
