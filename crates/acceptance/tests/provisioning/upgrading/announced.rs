//! What an orchestration has announced is taken back once, whatever becomes of its upgrades and of itself.

use std::time::Duration;

use base::Clock;
use broker::operations::{
    orchestration::{Input as DriverInput, Orchestrating},
    upgrade_kyma::Input,
};
use clients::spc::EventType;
use engine::{Operation as _, State, Storage as _, storage::NewOperation};
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};
use store::broker::{MaintenanceOf, NewMember, NewOrchestration, Resolution};
use uuid::Uuid;

use super::{ORCHESTRATION, cluster, kyma, views::notice};
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker};

/// Stores the orchestration of the tests over instances, each with its operation; gives its driver, which does not work.
async fn orchestrate(broker: &Broker, instances: &[(&str, Uuid)]) -> Uuid {
    let new = NewOrchestration {
        id: ORCHESTRATION,
        kind: "upgradeKyma".into(),
        description: "queued".into(),
        parameters: "{}".into(),
        workers: 1,
    };
    let input = DriverInput { orchestration: ORCHESTRATION, retry: false };
    let driver = NewOperation {
        id: Uuid::now_v7(),
        instance: ORCHESTRATION.to_string(),
        kind: Orchestrating::KIND.into(),
        data_version: Orchestrating::VERSION,
        lane: "operators".into(),
        input: serde_json::to_vec(&input).unwrap(),
        data: b"{}".to_vec(),
        digest: None,
    };
    let id = driver.id;
    broker.store.create_orchestration(&new, driver).await.unwrap();
    let member = |(instance, operation): &(&str, Uuid)| NewMember {
        operation: *operation,
        wave: 1,
        instance: (*instance).into(),
        runtime_id: Uuid::now_v7(),
        shoot_name: "c-1".into(),
        global_account: "account".into(),
        subaccount: "subaccount".into(),
        plan_id: "plan-id".into(),
        plan_name: "aws".into(),
        window_rule: None,
        window_begin: None,
        window_end: None,
    };
    let members: Vec<NewMember> = instances.iter().map(member).collect();
    let resolution = Resolution {
        orchestration: ORCHESTRATION,
        description: "Scheduled operations",
        member_description: "Operation created",
    };
    assert!(broker.store.resolve_orchestration(id, &resolution, &members).await.unwrap());
    id
}

/// Ends the orchestration of the tests, whose announcement could not be completed.
async fn end_unannounced(broker: &Broker, driver: Uuid, state: &str) {
    assert!(broker.store.finish_orchestration(ORCHESTRATION, driver, state).await.unwrap());
    // An operation that is archived: the driver of the test never ends.
    let (operation, instance) = (Uuid::now_v7(), ORCHESTRATION.to_string());
    let of = MaintenanceOf { operation, kind: Orchestrating::KIND, instance: &instance };
    broker.store.hand_over_announcement(of).await.unwrap();
}

fn status(outside: &Outside) -> Value {
    let all = outside.objects("spc");
    let event = all.into_iter().find(|object| object.id == ORCHESTRATION.to_string());
    event.map_or(Value::Null, |event| event.value["status"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_upgrade_that_is_abandoned_is_announced_as_cancelled() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("queued")).await.succeeded();
    let instance = made.order.instance_id.as_str();
    outside.announce().await;
    let trouble = Kind::Status { status: 500, body: None };
    let silent = Rule::next(1_000_000, trouble).of("reconciler");
    outside.meet(silent.from_step("Check_Cluster_Configuration"));
    let untold = Input { notify: false, ..kyma(made.order.clone()) };
    let first = broker.begin_upgrade_kyma(untold).await;
    outside.until_called("reconciler", "Check_Cluster_Configuration", first).await;
    let queued = broker.begin_upgrade_cluster(cluster(made.order.clone())).await;
    // As the driver does with its start.
    let of = MaintenanceOf { operation: queued, kind: "upgradeCluster", instance };
    broker.store.announce_first_maintenance(of, ORCHESTRATION).await.unwrap();

    assert!(broker.engine.abandon(queued, "abandoned by a test").await.unwrap());
    // The engine has a clock of its own.
    let clock = Clock::running();
    while broker.due_maintenances(broker.clock.now()).await == 0 {
        let state = broker.engine.storage().read(queued).await.unwrap().map(|it| it.state);
        assert!(clock.monotonic() < Duration::from_secs(120), "nothing is due; it is {state:?}");
        tokio::task::yield_now().await;
    }
    broker.settle().await;

    assert_eq!(notice(&outside, instance), json!(["1", "cancelled"]));
    outside.calm();
    assert_eq!(broker.end_of(first).await.state, State::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_by_the_orchestration_that_ends_before_its_own_notification_says_nothing_again() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("again")).await.succeeded();
    outside.announce().await;
    let unknown = || Input { version: Some("2.99.0".into()), ..kyma(made.order.clone()) };
    let first = Box::pin(broker.upgrade_kyma(unknown())).await;
    assert_eq!(first.snapshot.state, State::Failed, "{:#?}", first.journal);
    broker.settle().await;
    let (told, instance) = (outside.told(), made.order.instance_id.as_str());
    assert_eq!(notice(&outside, instance), json!(["1", "finished"]));
    orchestrate(&broker, &[(instance, first.snapshot.id)]).await;

    let retry = Box::pin(broker.upgrade_kyma(unknown())).await;

    assert_eq!(retry.snapshot.state, State::Failed, "{:#?}", retry.journal);
    assert_eq!(broker.due_maintenances(broker.clock.now()).await, 0);
    assert_eq!(outside.told(), told);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_orchestration_could_not_announce_at_its_end_is_announced_later() {
    for (state, whole, progress) in
        [("failed", "planned", "cancelled"), ("canceled", "cancelled", "planned")]
    {
        let outside = Outside::start(&["aws"], 1).await;
        let broker = Broker::start(&outside).await;
        let operation = Uuid::now_v7();
        outside.announce_planned("left-out", EventType::Kyma).await;
        let driver = orchestrate(&broker, &[("left-out", operation)]).await;
        assert!(broker.store.skip_member(operation, "it was removed").await.unwrap());
        end_unannounced(&broker, driver, state).await;
        outside.meet(Rule::next(1, Kind::Status { status: 500, body: None }).of("spc"));
        assert_eq!(broker.end_maintenance().await, 0);
        let told = outside.told();

        assert_eq!(broker.end_maintenance().await, 1);

        assert_eq!(status(&outside), whole);
        assert_eq!(notice(&outside, "left-out"), json!(["1", progress]));
        assert_eq!(outside.told() - told, 1);
        assert_eq!(broker.end_maintenance().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_upgrade_of_a_canceled_orchestration_is_not_announced_as_cancelled_of_its_own() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("off")).await.succeeded();
    let instance = made.order.instance_id.as_str();
    outside.announce_planned(instance, EventType::Kyma).await;
    let driver = orchestrate(&broker, &[]).await;
    assert!(broker.store.cancel_orchestration(ORCHESTRATION, "canceled").await.unwrap());
    outside.meet(Rule::next(1_000_000, Kind::Down { refuse: false }).of("avs"));
    // It waits for the maintenance of another one.
    let other = MaintenanceOf { operation: Uuid::now_v7(), kind: "upgradeKyma", instance };
    let evaluation = store::broker::SuspendedEvaluation { id: 1, status: "ACTIVE".into() };
    broker.store.suspend_evaluations(other, &[evaluation]).await.unwrap();
    let id = broker.begin_upgrade_kyma(kyma(made.order.clone())).await;
    broker.until_waiting(id).await;
    let told = outside.told();

    assert!(broker.engine.cancel(id, "called off by a test").await.unwrap());
    assert_eq!(broker.end_of(id).await.state, State::Canceled);
    // Only then it is known how the announcement is taken back.
    assert!(broker.store.finish_orchestration(ORCHESTRATION, driver, "canceled").await.unwrap());
    broker.settle().await;

    assert_eq!(outside.told(), told);
    assert_eq!(notice(&outside, instance), json!(["1", "planned"]));
}
