//! Upgrades of clusters.

use broker::{Order, operations::upgrade_cluster::Input};
use serde_json::{Value, json};

use super::{
    KUBERNETES, cluster,
    views::{evaluations, kubernetes, notice},
};
use crate::{
    orders::{OrderSpec, own_cluster},
    outside::Outside,
    test_broker::Broker,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_version_of_kubernetes_that_is_asked_for_reaches_the_shoot_and_the_row() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("cluster")).await.succeeded();

    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    broker.end_maintenance().await;

    assert_eq!(kubernetes(&outside, &made.order.shoot_name), KUBERNETES);
    assert_eq!(evaluations(&outside, &made.details), ["ACTIVE", "ACTIVE"]);
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["0", "finished"]));
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let order: Order = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(order.resolved.cluster.unwrap().kubernetes_version, KUBERNETES);
    let runtime = made.details.runtime_id.unwrap();
    let sent = broker.store.latest_runtime_state(runtime, Some("cluster-config")).await;
    let sent: Value = serde_json::from_slice(&sent.unwrap().unwrap().payload).unwrap();
    let sent = &sent["clusterConfig"]["gardenerConfig"];
    assert_eq!([&sent["kubernetesVersion"], &sent["maxSurge"]], [&json!(KUBERNETES), &json!(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_version_a_cluster_gets_what_the_catalog_has() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("usual")).await.succeeded();

    let input = Input { kubernetes_version: None, ..cluster(made.order.clone()) };
    Box::pin(broker.upgrade_cluster(input)).await.completed();

    let usual = &outside.catalog.defaults().kubernetes_version;
    assert_eq!(kubernetes(&outside, &made.order.shoot_name), **usual);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_higher_version_than_the_catalogs_is_kept_in_the_shoot_the_row_and_the_record() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("higher")).await.succeeded();
    Box::pin(broker.upgrade_cluster(cluster(made.order.clone()))).await.completed();
    broker.end_maintenance().await;

    let input = Input { kubernetes_version: None, ..cluster(made.order.clone()) };
    Box::pin(broker.upgrade_cluster(input)).await.completed();

    assert_ne!(outside.catalog.defaults().kubernetes_version, KUBERNETES);
    assert_eq!(kubernetes(&outside, &made.order.shoot_name), KUBERNETES);
    let row = broker.store.find(&made.order.instance_id).await.unwrap().unwrap();
    let order: Order = serde_json::from_slice(&row.order).unwrap();
    assert_eq!(order.resolved.cluster.unwrap().kubernetes_version, KUBERNETES);
    let runtime = made.details.runtime_id.unwrap();
    let sent = broker.store.latest_runtime_state(runtime, Some("cluster-config")).await;
    let sent: Value = serde_json::from_slice(&sent.unwrap().unwrap().payload).unwrap();
    assert_eq!(sent["clusterConfig"]["gardenerConfig"]["kubernetesVersion"], KUBERNETES);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_and_a_cluster_that_was_brought_along_change_nothing_outside() {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("dry-cluster")).await.succeeded();
    let wish = own_cluster("brought-up", "theirs", &kubeconfig);
    let brought = broker.provision(&outside, &wish).await.succeeded();
    outside.announce().await;
    let before = outside.changes().len();

    let input = Input { dry_run: true, ..cluster(made.order.clone()) };
    let dry = Box::pin(broker.upgrade_cluster(input)).await.completed();
    let theirs = Box::pin(broker.upgrade_cluster(cluster(brought.order.clone()))).await.completed();
    assert_eq!(broker.end_maintenance().await, 1);

    assert_eq!(outside.changes().len(), before);
    // An orchestration would have announced the second one.
    assert_eq!(notice(&outside, &made.order.instance_id), json!(["1", null]));
    assert_eq!(notice(&outside, &brought.order.instance_id), json!(["1", "finished"]));
    assert!(dry.snapshot.note.unwrap().contains(KUBERNETES));
    assert!(theirs.snapshot.note.unwrap().contains("nothing to upgrade"));
    assert_eq!(kubernetes(&outside, &made.order.shoot_name), "1.32.4");
}
