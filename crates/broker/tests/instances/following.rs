//! How far an operation is, in the words of the protocol.

use std::time::Duration;

use base::Failure;
use broker::{
    instances::{Caller, Error, Progress},
    runtimes::RuntimesQuery,
};
use engine::{
    State,
    storage::{Change, Outcome},
};
use serde_json::json;

use crate::world::{StepReport, World, tenant};

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

const WAITS: StepReport = StepReport {
    step: "Check_Runtime",
    outcome: Outcome::Wait,
    note: Some("waiting for the cluster"),
};

pub(crate) async fn a_new_order_is_in_progress(world: World) {
    let operation = world.ordered("i-1").await;

    let told = world.follow("i-1", Some(&operation)).await.unwrap();

    assert_eq!(told.progress, Progress::InProgress);
    assert_eq!(told.description, "Operation created");
    assert_eq!(told.retry_after, Some(Duration::from_secs(1)));
    assert_eq!(told.instance_usable, None);
}

pub(crate) async fn a_waiting_step_tells_its_place_its_reason_and_its_time(world: World) {
    let operation = world.ordered("i-1").await;
    world.say(&operation, &WAITS).await;
    world.clock.advance(Duration::from_secs(10));

    let told = world.follow("i-1", Some(&operation)).await.unwrap();

    assert_eq!(told.progress, Progress::InProgress);
    assert_eq!(told.description, "step 3 of 3: waiting for the cluster, 10 s");
    assert_eq!(told.retry_after, Some(Duration::from_secs(20)));
}

pub(crate) async fn platforms_come_back_within_a_minute_however_long_a_step_sleeps(world: World) {
    let operation = world.ordered("i-1").await;
    world.say_until(&operation, &WAITS, minutes(10)).await;

    let told = world.follow("i-1", Some(&operation)).await.unwrap();

    assert_eq!(told.retry_after, Some(minutes(1)));
}

pub(crate) async fn earlier_runs_tell_how_long_it_usually_takes(world: World) {
    for (instance, time) in [("i-1", 14), ("i-2", 16), ("i-3", 19)] {
        let operation = world.ordered(instance).await;
        world.say(&operation, &WAITS).await;
        world.clock.advance(minutes(time));
        world.say(&operation, &StepReport { outcome: Outcome::Done, note: None, ..WAITS }).await;
        world.clock.advance(minutes(1));
        world.end(&operation, State::Succeeded, vec![]).await;
        assert!(world.journal(&operation).await.len() > 2);
    }
    let operation = world.ordered("i-4").await;
    world.say(&operation, &WAITS).await;
    world.clock.advance(minutes(12));

    let told = world.follow("i-4", Some(&operation)).await.unwrap();

    let expected = "step 3 of 3: waiting for the cluster, 12 min, usually 14–19 min";
    assert_eq!(told.description, expected);
}

pub(crate) async fn a_failure_is_told_in_short_with_an_error_id_and_whole_to_operators(
    world: World,
) {
    let inner = "gardener refused: secrets \"kcp-1\" of garden-x not found";
    let failed = async |instance: &str, step: &str, component: &str, reason: &str| {
        let operation = world.ordered(instance).await;
        world.fail_at(&operation, step, Failure::new(component, reason, inner)).await;
        operation
    };
    let table = [
        (
            "Create_Runtime_Without_Kyma",
            "provisioner",
            "refused",
            "call to the provisioner service failed",
        ),
        ("Check_Runtime", "gardener", "ERR_INFRA", "provisioner client returns failed status"),
        ("AVS_Create_Internal_Eval_Step", "avs", "unavailable", "cannot create AVS evaluation"),
        (
            "Resolve_Target_Secret",
            "gardener",
            "not_found",
            "HAP lookup for secret binding to provision cluster for global account ID ga-1 on Hyperscaler aws has failed",
        ),
        (
            "Check_Cluster_Configuration",
            "reconciler",
            "istio",
            "Reconciler failed with error cluster status",
        ),
        ("Check_Runtime", "engine", "time_limit", "operation has reached the time limit: 24h0m0s"),
        ("Check_Runtime", "engine", "waiting_limit", "Check Runtime has reached the time limit"),
        ("Step_Of_One's_Own", "engine", "panic", "the operation failed"),
    ];

    for (number, (step, component, reason, short)) in table.into_iter().enumerate() {
        let instance = format!("i-{number}");
        let operation = failed(&instance, step, component, reason).await;

        let told = world.follow(&instance, Some(&operation)).await.unwrap();
        let of = async |caller: &Caller| {
            let ask =
                RuntimesQuery { instances: vec![instance.clone()], ..RuntimesQuery::default() };
            let page = world.broker.runtimes(caller, &ask).await.unwrap();
            page.data[0].status.provisioning.as_ref().unwrap().description.clone()
        };
        let operator = of(&Caller { any_tenant: true, ..Caller::default() }).await;

        let expected = format!("{short} (error id {operation})");
        assert_eq!((told.progress, told.description), (Progress::Failed, expected.clone()));
        assert_eq!(of(&tenant("ga-1")).await, expected);
        let whole = format!("{short}: {inner} ({component}: {reason}; error id {operation})");
        assert_eq!(operator, whole);
    }
}

pub(crate) async fn texts_that_are_written_for_those_who_order_are_told_as_they_are(world: World) {
    let text = "the cluster cannot be used with the kubeconfig of the order";
    let order = world.ordered("i-1").await;
    world
        .fail_at(&order, "Get_Kubeconfig", Failure::new("runtime", "own_cluster_unusable", text))
        .await;
    world.made("i-2").await;
    let removal = world.remove("i-2").await.unwrap();
    world.fail_at(&removal, "Init_Step", Failure::new("store", "unreadable", "row 7")).await;
    let change = world.ordered("i-3").await;
    let why = "the instance could not be provisioned, so it was not changed";
    let failure = Failure::new("broker", "not_provisioned", why);
    world.fail_at(&change, "Update_Kyma_Initialization", failure).await;

    let order_told = world.follow("i-1", Some(&order)).await.unwrap();
    let removal_told = world.follow("i-2", Some(&removal)).await.unwrap();
    let change_told = world.follow("i-3", Some(&change)).await.unwrap();

    assert_eq!(order_told.description, format!("{text} (error id {order})"));
    assert_eq!((order_told.retry_after, order_told.instance_usable), (None, None));
    assert_eq!(change_told.description, format!("{why} (error id {change})"));
    let text = format!("the removal could not be started (error id {removal})");
    assert_eq!((removal_told.description, removal_told.instance_usable), (text, Some(false)));
}

pub(crate) async fn what_another_system_says_while_it_is_waited_for_is_told_to_operators_alone(
    world: World,
) {
    let operation = world.ordered("i-1").await;
    let note = Some("the cluster is being made: Shoot c-1 of garden-x");
    world.say(&operation, &StepReport { note, ..WAITS }).await;

    let told = world.follow("i-1", Some(&operation)).await.unwrap();
    let operator = Caller { any_tenant: true, ..Caller::default() };
    let page = world.broker.runtimes(&operator, &RuntimesQuery::default()).await.unwrap();

    assert_eq!(told.description, "step 3 of 3: the cluster is being made, 0 s");
    let whole = &page.data[0].status.provisioning.as_ref().unwrap().description;
    assert_eq!(whole, "step 3 of 3: the cluster is being made: Shoot c-1 of garden-x, 0 s");
}

pub(crate) async fn the_newest_operation_is_told_when_none_is_named(world: World) {
    let order = world.ordered("i-1").await;
    let removal = world.remove("i-1").await.unwrap();
    world.end(&order, State::Failed, vec![]).await;

    let newest = world.follow("i-1", None).await.unwrap();
    let named = world.follow("i-1", Some(&order)).await.unwrap();

    let preempted = format!("operation preempted by deprovisioning {removal}");
    assert_eq!(newest.progress, Progress::InProgress);
    assert_eq!((named.progress, named.description), (Progress::Failed, preempted));
}

pub(crate) async fn a_removed_instance_still_tells_how_it_went(world: World) {
    world.made("i-1").await;
    let removal = world.remove("i-1").await.unwrap();
    let gone = Change { topic: "instance".into(), body: json!({"removed": true}) };
    world.end(&removal, State::Succeeded, vec![gone]).await;
    assert!(world.store.find("i-1").await.unwrap().is_none());

    for operation in [None, Some(&removal)] {
        let told = world.follow("i-1", operation).await.unwrap();
        assert_eq!(told.progress, Progress::Succeeded);
        assert_eq!(told.description, "Processing finished");
    }
    assert!(matches!(world.remove("i-1").await, Err(Error::Gone)));
}

pub(crate) async fn operations_of_others_are_not_told(world: World) {
    let operation = world.ordered("i-1").await;
    world.ordered("i-2").await;
    let named = operation.to_string();
    let ask = async |ga: &str, instance: &str, operation: Option<&str>| {
        let answer = world.broker.last_operation(&tenant(ga), instance, operation).await;
        answer.map_err(|error| error.to_string())
    };

    let unknown = ask("ga-1", "i-1", Some("nonsense")).await.unwrap_err();
    let foreign = ask("ga-2", "i-1", Some(&named)).await.unwrap_err();
    let foreign_newest = ask("ga-2", "i-1", None).await.unwrap_err();
    let of_another = ask("ga-1", "i-2", Some(&named)).await.unwrap_err();

    assert!(ask("ga-1", "i-1", Some(&named)).await.is_ok());
    assert_eq!(unknown, "Operation with id nonsense not exist");
    assert_eq!(foreign, format!("Operation with id {operation} not exist"));
    assert_eq!(foreign_newest, "Operation with instance_id i-1 not exist");
    assert_eq!(of_another, "operation exists, but instanceID is invalid");
}
