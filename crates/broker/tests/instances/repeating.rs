//! The same order again, at every point of an instance's life.

use broker::instances::{Caller, Error, Provision};
use engine::{State, storage::Change};
use futures::future::join_all;
use serde_json::json;

use crate::world::{AWS, World, context, request, tenant};

fn taken(error: &Error) -> &'static str {
    match error {
        Error::Taken(text) => text,
        other => panic!("{other}"),
    }
}

pub(crate) async fn the_same_words_are_answered_with_the_same_operation(world: World) {
    let first = world.order("i-1").await.unwrap();

    let again = world.order("i-1").await.unwrap();

    assert_eq!(again, first);
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn a_complete_instance_is_answered_without_an_operation(world: World) {
    world.made("i-1").await;

    let again = world.order("i-1").await.unwrap();

    assert_eq!(again.operation, None);
    assert_eq!(again.dashboard_url, "https://dashboard.test/?kubeconfigID=i-1");
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn a_failed_order_is_answered_with_its_operation(world: World) {
    let operation = world.ordered("i-1").await;
    world.fail(&operation, "no quota").await;

    let again = world.order("i-1").await.unwrap();

    assert_eq!(again.operation, Some(operation));
}

pub(crate) async fn other_words_under_the_same_id_are_a_conflict(world: World) {
    world.ordered("i-1").await;
    let other = [
        Provision { parameters: Some(json!({"name": "other"})), ..request("i-1", AWS) },
        Provision {
            parameters: Some(json!({"name": "dev", "administrators": []})),
            ..request("i-1", AWS)
        },
        Provision { region: Some("cf-us10".into()), ..request("i-1", AWS) },
    ];

    for request in other {
        let error = world.broker.provision(&Caller::default(), request).await.unwrap_err();
        assert_eq!(taken(&error), "provisioning operation already exist");
    }
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn an_instance_that_is_being_removed_is_in_the_way(world: World) {
    world.made("i-1").await;
    world.remove("i-1").await.unwrap();

    let error = world.order("i-1").await.unwrap_err();

    assert!(matches!(error, Error::Busy), "{error}");
}

pub(crate) async fn an_id_is_not_used_again(world: World) {
    world.made("i-1").await;
    let removal = world.remove("i-1").await.unwrap();
    let gone = Change { topic: "instance".into(), body: json!({"removed": true}) };
    world.end(&removal, State::Succeeded, vec![gone]).await;

    let error = world.order("i-1").await.unwrap_err();

    assert_eq!(taken(&error), "cannot fetch instance for operation");
}

pub(crate) async fn of_twenty_orders_at_once_one_operation_answers_all(world: World) {
    let answers = join_all((0..20).map(|_| world.order("i-1"))).await;

    let first = answers[0].as_ref().unwrap().operation.clone();
    assert!(first.is_some());
    for answer in &answers {
        assert_eq!(answer.as_ref().unwrap().operation, first);
    }
    assert_eq!(world.operations().await, 1);
}

pub(crate) async fn others_are_not_told_whether_an_instance_is_still_there(world: World) {
    world.made("i-living").await;
    world.made("i-removed").await;
    let removal = world.remove("i-removed").await.unwrap();
    let gone = Change { topic: "instance".into(), body: json!({"removed": true}) };
    world.end(&removal, State::Succeeded, vec![gone]).await;
    let order = async |instance: &str| {
        let request = Provision { context: Some(context("ga-2")), ..request(instance, AWS) };
        world.broker.provision(&tenant("ga-2"), request).await.unwrap_err().to_string()
    };

    let texts = [order("i-living").await, order("i-removed").await];

    assert_eq!(texts[0], texts[1]);
}
