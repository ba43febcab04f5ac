//! Maintenance ends, whatever becomes of the upgrade that has begun it.

use engine::{State, storage::Verdict};
use serde_json::json;
use simulators::trouble::{Kind, Rule};

use super::{
    cluster, kyma,
    views::{evaluations, notice},
};
use crate::{made::Broker, orders::Wish, outside::Outside};

const BEGUN: &str = "under-maintenance";

/// The Reconciler says nothing about how far it is.
fn silent() -> Rule {
    let trouble = Kind::Status { status: 500, body: None };
    Rule::next(1_000_000, trouble).of("reconciler").from_step("Check_Cluster_Configuration")
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_are_in_maintenance_mode_while_the_upgrade_lasts() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("lasting")).await.succeeded();
    outside.meet(silent());

    let id = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    outside.until_called("reconciler", "Check_Cluster_Configuration", id).await;
    broker.end_maintenance().await;

    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", BEGUN]));
    outside.calm();
    assert_eq!(broker.end_of(id).await.state, State::Succeeded);
    broker.end_maintenance().await;
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_ends_after_an_upgrade_that_failed() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("failed")).await.succeeded();
    let refused = Kind::Status { status: 400, body: None };
    outside.meet(Rule::next(1, refused).of("provisioner").from_step("Upgrade_Cluster"));

    let ended = Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);
    broker.settle().await;

    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_ends_after_an_upgrade_that_was_called_off() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("off")).await.succeeded();
    outside.meet(silent());

    let id = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    outside.until_called("reconciler", "Check_Cluster_Configuration", id).await;
    assert!(broker.engine.cancel(id, "called off by a test").await.unwrap());
    assert_eq!(broker.end_of(id).await.state, State::Canceled);
    broker.settle().await;

    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_ends_when_the_broker_died_while_it_began_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("died")).await.succeeded();
    // The evaluation is in maintenance mode, and nobody hears of it.
    let lost = Kind::LostAnswer { status: None };
    outside.meet(Rule::next(1_000_000, lost).of("avs").on("PUT", "/"));

    let id = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    outside.until_called("avs", "AVS_Maintenance", id).await;
    let broker = broker.killed_and_started(&outside).await;
    assert!(broker.engine.cancel(id, "called off by a test").await.unwrap());
    assert_eq!(broker.end_of(id).await.state, State::Canceled);
    outside.calm();
    broker.settle().await;

    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_that_cannot_be_ended_is_tried_again_and_the_next_upgrade_waits_for_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("again")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    outside.meet(Rule::next(1_000_000, Kind::Down { refuse: false }).of("avs"));
    assert_eq!(broker.end_maintenance().await, 0);
    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);

    let next = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    broker.until_waiting(next).await;
    outside.calm();
    broker.settle().await;

    assert_eq!(broker.end_of(next).await.state, State::Succeeded);
    broker.settle().await;
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_customer_is_told_once_that_it_begins_and_once_that_it_is_over() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("once")).await.succeeded();

    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
    for _ in 0..3 {
        broker.end_maintenance().await;
    }

    // The event is made by the orchestration; here the first call finds none, and makes it.
    let told = outside.calls().into_iter().filter(|call| call.system == "spc");
    let told: Vec<String> = told.map(|call| call.route).collect();
    let named = |name: &str| told.iter().filter(|path| path.ends_with(name)).count();
    assert_eq!((named("createMaintenanceEvent"), named("updateMaintenanceEvent")), (1, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_avs_refuses_is_given_up_and_the_next_upgrade_goes_on() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("refused")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    let refused = Kind::Status { status: 400, body: None };
    outside.meet(Rule::next(1_000_000, refused).of("avs"));

    // For some time it is tried again: what is refused may be put right.
    assert_eq!(broker.end_maintenance().await, 0);
    assert_eq!(broker.end_refused_maintenance().await, 1);

    outside.calm();
    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_an_operator_retries_is_announced_and_in_maintenance_again() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &Wish::aws("retried")).await.succeeded();
    let refused = Kind::Status { status: 400, body: None };
    outside.meet(Rule::next(1, refused).of("provisioner").from_step("Upgrade_Cluster"));
    let ended = Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    broker.settle().await;

    let alone = |_: &[_]| Verdict::Queue;
    let (retry, _) = broker.engine.retry(ended.snapshot.id, &alone).await.unwrap();
    assert_eq!(broker.end_of(retry).await.state, State::Succeeded);

    let changes = outside.changes();
    let of_retry = |system: &str| {
        let of = |it: &&(String, String, String)| it.0 == retry.to_string() && it.1 == system;
        changes.iter().filter(of).count()
    };
    assert_eq!((of_retry("avs"), of_retry("spc")), (2, 1), "{changes:?}");
    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);
    broker.settle().await;
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
}
