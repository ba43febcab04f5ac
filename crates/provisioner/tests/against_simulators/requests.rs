//! Repeated requests, and requests at once.

mod access;
mod lost_answers;
mod registrations;

use std::sync::Arc;

use futures::future::join_all;
use provisioner::{Caller, status::OperationState};

use crate::world::{World, aws, caller};
use lost_answers::registered;

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_order_with_the_same_key_is_the_same_runtime() {
    let world = World::sqlite().await;
    let keyed = Caller { idempotency_key: Some("order-1".into()), ..caller() };

    let first = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();
    let second = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();
    let other = world.provisioner.provision(&keyed, aws("other")).await.unwrap_err();
    world.success_of(&first.id).await;
    let third = world.provisioner.provision(&keyed, aws("twice")).await.unwrap();

    assert_eq!((&first.id, &first.runtime_id), (&second.id, &second.runtime_id));
    assert_eq!(third.state, OperationState::Succeeded);
    assert!(other.message.contains("idempotency key"), "{other}");
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_orders_at_once_with_the_same_key_are_one_runtime() {
    let world = Arc::new(World::postgres().await);
    let keyed = Caller { idempotency_key: Some("order-1".into()), ..caller() };

    let orders = (0..20).map(|_| world.provisioner.provision(&keyed, aws("many")));
    let answers = join_all(orders).await;

    let ids: std::collections::BTreeSet<String> =
        answers.into_iter().map(|answer| answer.unwrap().id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    world.success_of(ids.first().unwrap()).await;
    assert_eq!(registered(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_operation_of_a_runtime_is_in_progress() {
    let world = World::sqlite().await;
    world.order("gardener", "scenario", &serde_json::json!({"scenario": "slow"}));

    let begun = world.provisioner.provision(&caller(), aws("busy")).await.unwrap();
    let refused =
        world.provisioner.deprovision(&caller(), &begun.runtime_id, false).await.unwrap_err();

    let text = format!(
        "cannot start new operation for {} Runtime while previous one is in progress",
        begun.runtime_id
    );
    assert_eq!((refused.code.number(), refused.message), (400, text));
    world.success_of(&begun.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_operations_at_once_one_begins() {
    let world = World::postgres().await;
    let made = world.provisioned(aws("race")).await;
    world.landscape.running.install_agent("race");

    let caller = caller();
    let asked = (0..20).map(|_| world.provisioner.reconnect_agent(&caller, &made.runtime_id));
    let answers = join_all(asked).await;

    let begun: Vec<_> = answers.into_iter().filter_map(Result::ok).collect();
    assert!(!begun.is_empty());
    for one in &begun {
        world.success_of(&one.id).await;
    }
}
