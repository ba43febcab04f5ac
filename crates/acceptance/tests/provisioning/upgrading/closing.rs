//! The announcement of an upgrade is closed, even of one that never began, and nobody waits for SPC meanwhile.

use std::time::Duration;

use base::Clock;
use broker::operations::{upgrade_cluster, upgrade_kyma::Input};
use engine::{State, storage::Verdict};
use serde_json::json;
use simulators::trouble::{Kind, Rule};
use store::broker::MaintenanceOf;
use uuid::Uuid;

use super::{
    ORCHESTRATION, cluster, kyma,
    views::{evaluations, notice},
};
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker};

const HOUR: Duration = Duration::from_hours(1);

fn down() -> Rule {
    Rule::next(1_000_000, Kind::Down { refuse: false })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_is_stopped_while_it_waits_for_the_one_before_is_announced_as_cancelled() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("stopped")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    outside.meet(down().of("avs"));
    let next = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    broker.until_waiting(next).await;

    assert!(broker.engine.cancel(next, "called off by a test").await.unwrap());
    assert_eq!(broker.end_of(next).await.state, State::Canceled);
    outside.calm();
    // That of the first one, and that of the second one once nothing of it is on its way.
    assert_eq!(broker.end_maintenance().await, 1);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
    broker.settle().await;

    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "cancelled"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_that_ends_before_its_own_notification_says_nothing_again() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("silent")).await.succeeded();
    outside.announce().await;
    let input = Input { version: Some("2.99.0".into()), ..kyma(made.order.clone()) };
    let ended = Box::pin(broker.upgrade_kyma(input)).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    broker.settle().await;
    let told = outside.told();

    let (retry, _) = broker.engine.retry(ended.snapshot.id, &|_| Verdict::Queue).await.unwrap();
    assert_eq!(broker.end_of(retry).await.state, State::Failed);

    assert_eq!(broker.due_maintenances(broker.clock.now()).await, 0);
    assert_eq!(outside.told(), told);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_who_cannot_be_told_of_an_end_for_a_day_is_given_up() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("day")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    outside.meet(down().of("spc"));
    let time = Clock::held_at(broker.clock.now() + 23 * HOUR);
    let ending = broker.maintenance_ending(&outside, &time).await;

    assert_eq!(ending.end_due().await.unwrap(), 0);
    time.advance(HOUR);
    assert_eq!(ending.end_due().await.unwrap(), 1);

    outside.calm();
    assert_eq!(broker.due_maintenances(time.now() + HOUR).await, 0);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "under-maintenance"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_are_restored_while_spc_answers_nothing() {
    let mut outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("hanging")).await.succeeded();
    // So many ends are told at once; these are due before the upgrade's.
    for n in 0..8 {
        let instance = format!("other-{n}");
        let of =
            MaintenanceOf { operation: Uuid::now_v7(), kind: "upgradeKyma", instance: &instance };
        broker.store.announce_maintenance(of, ORCHESTRATION).await.unwrap();
    }
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    assert_eq!(evaluations(&outside, &made.details), ["MAINTENANCE", "MAINTENANCE"]);
    outside.meet(Rule::next(1_000_000, Kind::Silent).of("spc"));
    // Calls end in real time, which the machine may take a lot of.
    outside.calls.call = HOUR;
    let ending = broker.maintenance_ending(&outside, &broker.clock).await;

    let ending = tokio::spawn(async move { ending.end_due().await });
    outside.until(|| evaluations(&outside, &made.details) == ["ACTIVE", "ACTIVE"]).await;

    assert!(!ending.is_finished());
    ending.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn evaluations_of_later_upgrades_are_restored_while_spc_answers_nothing_of_earlier_ones() {
    let mut outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("passing")).await.succeeded();
    let of = MaintenanceOf { operation: Uuid::now_v7(), kind: "upgradeKyma", instance: "other" };
    broker.store.announce_maintenance(of, ORCHESTRATION).await.unwrap();
    outside.meet(Rule::next(1_000_000, Kind::Silent).of("spc"));
    // Calls end in real time, which the machine may take a lot of.
    outside.calls.call = HOUR;
    let ending = broker.keep_ending_maintenance(&outside).await;
    outside.until(|| outside.calls().iter().any(|call| call.system == "spc")).await;

    let untold = upgrade_cluster::Input { notify: false, ..cluster(made.order.clone()) };
    Box::pin(broker.upgrade_cluster(untold)).await.completed();

    outside.until(|| evaluations(&outside, &made.details) == ["ACTIVE", "ACTIVE"]).await;
    ending.abort();
}
