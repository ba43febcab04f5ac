//! Changes that an operator tries again after the provisioner could not carry them out.

use engine::{State, storage::Verdict};
use serde_json::json;
use simulators::trouble::{Kind, Rule};

use super::{change_of_everything, trying::shoot};
use crate::{
    orders::OrderSpec,
    outside::Outside,
    test_broker::{Broker, EndedOperation},
};

/// A change whose order Gardener refuses when the provisioner carries it out.
async fn refused(
    outside: &Outside,
    broker: &Broker,
    mark: &str,
) -> (EndedOperation, EndedOperation) {
    let made = broker.provision(outside, &OrderSpec::aws(mark)).await.succeeded();
    let trouble = Kind::Status { status: 422, body: None };
    outside.meet(Rule::next(1_000_000, trouble).of("gardener").from_step("Update_Shoot"));
    let ended = Box::pin(broker.update(change_of_everything(made.order.clone()))).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    let last = ended.journal.iter().rev().find_map(|entry| entry.step.as_deref());
    assert_eq!(last, Some("Check_Runtime"), "{:#?}", ended.journal);
    (made, ended)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_provisioner_could_not_carry_out_is_ordered_again_by_each_retry() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let (made, ended) = Box::pin(refused(&outside, &broker, "retried")).await;
    let alone = |_: &[_]| Verdict::Queue;
    let first = ended.details.target_operation_id.unwrap();

    // The refusal stays: the retry fails with an operation of its own.
    let (retry, _) = broker.engine.retry(ended.snapshot.id, &alone).await.unwrap();
    let again = broker.end_of(retry).await;
    assert_eq!(again.state, State::Failed);
    let data: serde_json::Value = serde_json::from_slice(&again.data).unwrap();
    assert_eq!(data["ordered_before"], json!([first]));
    assert_ne!(data["details"]["target_operation_id"], json!(first));

    outside.calm();
    let (retry, _) = broker.engine.retry(retry, &alone).await.unwrap();
    assert_eq!(broker.end_of(retry).await.state, State::Succeeded);

    assert_eq!(shoot(&outside, &made.order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let order: serde_json::Value = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(order["parameters"]["autoScalerMax"], 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_whose_answer_is_lost_orders_the_change_once() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let (made, ended) = Box::pin(refused(&outside, &broker, "lost-retry")).await;
    outside.calm();
    let lost = Kind::LostAnswer { status: None };
    let ordering = Rule::next(1, lost).of("provisioner").from_step("Check_Runtime");
    outside.meet(ordering.holding("upgradeShoot"));

    let alone = |_: &[_]| Verdict::Queue;
    let (retry, _) = broker.engine.retry(ended.snapshot.id, &alone).await.unwrap();

    assert_eq!(broker.end_of(retry).await.state, State::Succeeded);
    assert_eq!(shoot(&outside, &made.order.shoot_name), json!(["m6i.2xlarge", 4, 9]));
}
