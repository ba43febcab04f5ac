//! Upgrades that an operator tries again after the provisioner or the Reconciler could not carry them out.

use engine::{State, storage::Verdict};
use serde_json::json;
use simulators::trouble::{Kind, Rule};

use super::{
    KUBERNETES, KYMA, cluster, kyma,
    views::{kubernetes, reconciled},
};
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker};

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_the_provisioner_could_not_carry_out_is_ordered_again_by_each_retry() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("ordered")).await.succeeded();
    let trouble = Kind::Status { status: 422, body: None };
    outside.meet(Rule::next(1_000_000, trouble).of("gardener").from_step("Update_Shoot"));
    let ended = Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    broker.settle().await;

    let alone = |_: &[_]| Verdict::Queue;
    let (retry, _) = broker.engine.retry(ended.snapshot.id, &alone).await.unwrap();
    assert_eq!(broker.end_of(retry).await.state, State::Failed, "it is still refused");
    broker.settle().await;
    outside.calm();
    let (retry, _) = broker.engine.retry(retry, &alone).await.unwrap();

    assert_eq!(broker.end_of(retry).await.state, State::Succeeded);
    assert_eq!(kubernetes(&outside, &made.order.shoot_name), KUBERNETES);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_the_reconciler_could_not_carry_out_is_applied_again_by_the_retry() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("applied")).await.succeeded();
    let runtime = made.runtime();
    let fails = |on| {
        let with = json!({ "id": runtime, "on": on });
        outside.running.landscape.order("reconciler", "fail", &with).unwrap();
    };
    fails(true);
    let ended = Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await;
    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    broker.settle().await;
    fails(false);

    let (retry, _) = broker.engine.retry(ended.snapshot.id, &|_| Verdict::Queue).await.unwrap();

    assert_eq!(broker.end_of(retry).await.state, State::Succeeded);
    assert_eq!(reconciled(&outside, &runtime), json!([KYMA, "ready", 2]));
}
