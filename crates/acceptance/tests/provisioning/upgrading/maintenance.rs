//! Maintenance ends, whatever becomes of the upgrade that has begun it.

use std::time::Duration;

use base::Clock;
use broker::operations::upgrade_kyma::Input;
use clients::avs::Status;
use engine::{State, storage::Verdict};
use serde_json::json;
use simulators::{
    testing::tables::passing,
    trouble::{Kind, Rule},
};

use super::{
    cluster, kyma,
    views::{evaluations, notice},
};
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker};

const BEGUN: &str = "under-maintenance";
const MINUTE: Duration = Duration::from_mins(1);
/// How long a dead replica keeps a maintenance.
const HOLD: Duration = Duration::from_secs(15);

/// The Reconciler says nothing about how far it is.
fn silent() -> Rule {
    let trouble = Kind::Status { status: 500, body: None };
    Rule::next(1_000_000, trouble).of("reconciler").from_step("Check_Cluster_Configuration")
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_are_in_maintenance_mode_while_the_upgrade_lasts() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("lasting")).await.succeeded();
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
async fn a_status_that_was_changed_during_the_upgrade_stays() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("changed")).await.succeeded();
    outside.meet(silent());
    let id = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    outside.until_called("reconciler", "Check_Cluster_Configuration", id).await;

    let avs = outside.env(&broker.clock).await.avs.unwrap();
    avs.set_status(made.details.avs.internal_id.unwrap(), Status::Inactive).await.unwrap();
    outside.calm();
    assert_eq!(broker.end_of(id).await.state, State::Succeeded);
    broker.end_maintenance().await;

    assert_eq!(evaluations(&outside, &made.details), ["INACTIVE", "ACTIVE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_ends_after_an_upgrade_that_failed() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("failed")).await.succeeded();
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
    let made = broker.provision(&outside, &OrderSpec::aws("off")).await.succeeded();
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
    let made = broker.provision(&outside, &OrderSpec::aws("died")).await.succeeded();
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
    let made = broker.provision(&outside, &OrderSpec::aws("again")).await.succeeded();
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
async fn a_maintenance_is_one_replicas_while_its_calls_last_and_anothers_seconds_after_its_death() {
    let mut outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("dying")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    outside.meet(Rule::next(1_000_000, Kind::Silent).of("avs"));
    // Calls end in real time, which the machine may take a lot of.
    outside.calls.call = 10 * MINUTE;
    let time = Clock::held_at(broker.clock.now());
    let dying = broker.maintenance_ending(&outside, &time).await;
    let other = broker.maintenance_ending(&outside, &time).await;
    let ending = tokio::spawn(async move { dying.end_due().await });
    let clock = Clock::running();
    while broker.due_maintenances(time.now()).await > 0 {
        assert!(clock.monotonic() < Duration::from_secs(120), "the maintenance is held by nobody");
        tokio::task::yield_now().await;
    }

    for _ in 0..8 {
        let over = time.now() + HOLD;
        while broker.due_maintenances(over).await > 0 {
            // A renewal that waits for the database must not be outrun: the hold would be over.
            broker.clock.sleep(Duration::from_millis(10)).await;
            time.advance(Duration::from_millis(50));
        }
        assert_eq!(other.end_due().await.unwrap(), 0);
    }
    ending.abort();
    assert!(ending.await.unwrap_err().is_cancelled());
    outside.calm();
    time.advance(HOLD);

    assert_eq!(other.end_due().await.unwrap(), 1);
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_that_cannot_be_restored_keeps_no_other_and_the_end_is_told_after_both() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("halves")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    let first = format!("*/{}/lifecycle$", made.details.avs.internal_id.unwrap());
    let fails = Kind::Status { status: 500, body: None };
    outside.meet(Rule::next(1_000_000, fails).of("avs").on("PUT", &first));

    assert_eq!(broker.end_maintenance().await, 0);

    let restored = evaluations(&outside, &made.details);
    assert_eq!(restored.iter().filter(|status| **status == "ACTIVE").count(), 1, "{restored:?}");
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", BEGUN]));
    outside.calm();
    assert_eq!(broker.end_maintenance().await, 1);
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_customer_is_told_once_that_it_begins_and_once_that_it_is_over() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("once")).await.succeeded();

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
    let made = broker.provision(&outside, &OrderSpec::aws("refused")).await.succeeded();
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
    let made = broker.provision(&outside, &OrderSpec::aws("retried")).await.succeeded();
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

#[tokio::test(flavor = "multi_thread")]
async fn a_maintenance_ends_when_spc_refuses_to_hear_of_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("unheard")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    let refused = Kind::Status { status: 400, body: None };
    outside.meet(Rule::next(1_000_000, refused).of("spc").on("PATCH", "/"));

    assert_eq!(broker.end_maintenance().await, 1);

    outside.calm();
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", BEGUN]));
    assert_eq!(broker.end_maintenance().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_cannot_be_told_is_told_later_and_the_next_upgrade_does_not_wait_for_it() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("later")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    outside.meet(Rule::next(1_000_000, Kind::Down { refuse: false }).of("spc"));
    assert_eq!(broker.end_maintenance().await, 0);
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", BEGUN]));

    let untold = Input { notify: false, ..kyma(made.order.clone()) };
    Box::pin(broker.upgrade_kyma(untold)).await.completed();

    // The second one ends, and the first one is tried again in vain.
    assert_eq!(broker.end_maintenance().await, 1);
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    outside.calm();
    assert_eq!(broker.end_maintenance().await, 1);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_that_ends_a_maintenance_may_fail_once_in_any_way() {
    let ways = passing();
    let outside = Outside::start(&["aws"], ways.len()).await;
    let broker = Broker::start(&outside).await;

    for (at, kind) in ways.iter().enumerate() {
        let wish = OrderSpec::aws(&format!("way-{at}"));
        let made = broker.provision(&outside, &wish).await.succeeded();
        Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
        for (system, method) in [("avs", "GET"), ("avs", "PUT"), ("spc", "PATCH")] {
            outside.meet(Rule::next(1, kind.clone()).of(system).on(method, "/"));
        }
        let (told, mut ended) = (outside.told(), 0);
        let time = Clock::held_at(broker.clock.now());
        let ending = broker.maintenance_ending(&outside, &time).await;

        // One evaluation after the other may fail, and then SPC.
        for _ in 0..4 {
            ended += ending.end_due().await.unwrap();
            time.advance(2 * MINUTE);
        }

        outside.calm();
        assert_eq!(ended, 1, "{kind:?}");
        assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"], "{kind:?}");
        assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", "finished"]), "{kind:?}");
        assert_eq!(outside.told() - told, 1, "{kind:?}");
    }
}
