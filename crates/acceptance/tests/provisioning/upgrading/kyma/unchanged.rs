//! Upgrades of Kyma that change nothing, or only part of it.

use broker::{Details, operations::upgrade_kyma::Input};
use engine::State;
use serde_json::json;

use super::super::{
    KYMA, kyma,
    views::{notice, reconciled},
};
use crate::{
    orders::{OrderSpec, own_cluster},
    outside::Outside,
    test_broker::Broker,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_changes_nothing_outside() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("dry")).await.succeeded();
    let before = outside.changes().len();

    let input = Input { dry_run: true, ..kyma(made.order.clone()) };
    let ended = Box::pin(broker.upgrade_kyma(input)).await.completed();
    broker.end_maintenance().await;

    let said = ended.snapshot.note.unwrap();
    assert!(said.starts_with("dry run: "), "{said}");
    assert_eq!(outside.changes().len(), before);
    assert_eq!(reconciled(&outside, &made.runtime()), json!(["2.10.0", "ready", 1]));
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let details: Details = serde_json::from_slice(&row.details).unwrap();
    assert_eq!(details, made.details);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_without_kyma_from_the_reconciler_is_left_alone() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let wish = OrderSpec { plan: "preview", ..OrderSpec::aws("preview") };
    let made = broker.provision(&outside, &wish).await.succeeded();
    let before = outside.changes().len();

    let ended = Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();

    assert_eq!(outside.changes().len(), before);
    assert!(ended.snapshot.note.unwrap().contains("nothing to upgrade"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_nobody_has_configured_fails_before_anything_begins_and_its_announcement_is_closed()
 {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("unknown")).await.succeeded();
    outside.announce().await;
    let before = outside.changes().len();

    let input = Input { version: Some("2.99.0".into()), ..kyma(made.order.clone()) };
    let ended = Box::pin(broker.upgrade_kyma(input)).await;

    assert_eq!(ended.snapshot.state, State::Failed);
    assert_eq!(ended.snapshot.failure.unwrap().component, "control plane");
    assert_eq!(outside.changes().len(), before);
    broker.settle().await;
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", "finished"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_was_brought_along_gets_the_new_kyma_too() {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let broker = Broker::start(&outside).await;
    let wish = own_cluster("brought-kyma", "theirs", &kubeconfig);
    let made = broker.provision(&outside, &wish).await.succeeded();

    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();

    assert_eq!(reconciled(&outside, &made.runtime())[0], KYMA);
}
