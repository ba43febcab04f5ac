//! Upgrades of Kyma.

mod templates;
mod unchanged;

use broker::{Details, operations::upgrade_kyma::Input};
use serde_json::{Value, json};

use super::{
    KYMA, kyma,
    views::{evaluations, notice, reconciled},
};
use crate::{
    life::{are_overridden, settings},
    orders::OrderSpec,
    outside::Outside,
    test_broker::Broker,
};

const KYMAS: &str = "kymas.operator.kyma-project.io";
const USUAL: &str = "kcp-system";
const OTHER: &str = "elsewhere";

async fn stored(broker: &Broker, instance: &str) -> Details {
    let row = broker.store.find(instance).await.unwrap().unwrap();
    serde_json::from_slice(&row.details).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_of_kyma_reaches_the_reconciler_the_row_and_the_customer() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("kyma")).await.succeeded();

    let ended = Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
    broker.end_maintenance().await;

    assert_eq!(reconciled(&outside, &made.runtime()), json!([KYMA, "ready", 2]));
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", "finished"]));
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let details: Details = serde_json::from_slice(&row.details).unwrap();
    assert_eq!(details.runtime_version.unwrap().version, KYMA);
    assert_eq!(details.cluster_configuration_version, ended.details.cluster_configuration_version);
    let runtime = made.details.runtime_id.unwrap();
    let sent = broker.store.latest_runtime_state(runtime, Some("kyma-version")).await;
    let sent = sent.unwrap().unwrap();
    assert_eq!(sent.operation, ended.snapshot.id);
    let sent: Value = serde_json::from_slice(&sent.payload).unwrap();
    assert_eq!(sent["kymaConfig"]["version"], KYMA);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_override_reaches_the_reconciler_with_its_mark_again() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("marks")).await.succeeded();

    let ended = Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();

    assert_eq!(reconciled(&outside, &made.runtime()), json!([KYMA, "ready", 2]));
    // The Service Manager knows the cluster by its id, which stays.
    assert_eq!(ended.details.sm_cluster_id, made.details.sm_cluster_id);
    are_overridden(&settings(&outside, &made), &made);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_version_the_account_says_which_one_it_is() {
    let outside = Outside::start(&["aws"], 2).await;
    let broker = Broker::start(&outside).await;
    let (one, other) = (OrderSpec::aws("v-one"), OrderSpec::aws("v-other"));
    let one = broker.provision(&outside, &one).await.succeeded();
    let other = broker.provision(&outside, &other).await.succeeded();
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "kyma-versions", "namespace": "kcp-system"},
        "data": {"SA_SA-v-one": KYMA, "GA_ga-v-one": "2.9.3"},
    });
    outside.running.clusters().server().apply("kcp", "tests", &map).unwrap();
    let unsaid = |order| Input { version: None, ..kyma(order) };

    for made in [&one, &other] {
        Box::pin(broker.upgrade_kyma(unsaid(made.order.clone()))).await.completed();
    }

    assert_eq!(reconciled(&outside, &one.runtime())[0], KYMA);
    assert_eq!(reconciled(&outside, &other.runtime())[0], "2.10.0");
}
