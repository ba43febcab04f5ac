//! How far an operation is, in the words of the protocol.

use std::time::Duration;

use broker::instances::{Error, Progress};
use engine::{
    State,
    storage::{Change, Outcome},
};
use serde_json::json;

use crate::world::{Said, World, tenant};

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

const WAITS: Said =
    Said { step: "Check_Runtime", outcome: Outcome::Wait, note: Some("waiting for the cluster") };

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

pub(crate) async fn earlier_runs_tell_how_long_it_usually_takes(world: World) {
    for (instance, time) in [("i-1", 14), ("i-2", 16), ("i-3", 19)] {
        let operation = world.ordered(instance).await;
        world.say(&operation, &WAITS).await;
        world.clock.advance(minutes(time));
        world.say(&operation, &Said { outcome: Outcome::Done, note: None, ..WAITS }).await;
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

pub(crate) async fn a_failure_is_told_in_its_own_words(world: World) {
    let operation = world.ordered("i-1").await;
    world.fail(&operation, "call to the provisioner service failed").await;
    world.made("i-2").await;
    let removal = world.remove("i-2").await.unwrap();
    world.fail(&removal, "operation has reached the time limit: 24h0m0s").await;

    let order = world.follow("i-1", Some(&operation)).await.unwrap();
    let removal = world.follow("i-2", Some(&removal)).await.unwrap();

    assert_eq!(order.progress, Progress::Failed);
    assert_eq!(order.description, "call to the provisioner service failed");
    assert_eq!((order.retry_after, order.instance_usable), (None, None));
    assert_eq!((removal.progress, removal.instance_usable), (Progress::Failed, Some(false)));
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
