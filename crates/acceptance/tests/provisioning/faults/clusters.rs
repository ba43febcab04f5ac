//! Clusters that the provisioner refuses, and clusters that customers bring along.

use std::sync::Arc;

use broker::operations::ProvisioningLimits;
use clients::kubernetes::Networks;
use engine::State;
use serde_json::json;
use simulators::trouble::Kind;

use super::trying_with_known_runtime;
use crate::{
    orders::{OrderSpec, own_cluster},
    outside::{Outside, patient},
    test_broker::Broker,
    trying::Trying,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_the_provisioner_refuses_fails_the_order_with_its_words() {
    let mut trying = Trying::on(Outside::start(&["aws"], 1).await, false);
    // No Shoot can have so long a name.
    trying.wish = Box::new(|mark| OrderSpec::aws(&format!("{mark}-{}", "x".repeat(40))));

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.component, "provisioner", "{failure}");
    assert!(failure.message.contains("name"), "{failure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_cluster_that_is_brought_along_answers_is_not_told() {
    let (trying, _) = trying_with_known_runtime(patient()).await;
    let status = json!({"kind": "Status", "reason": "Invalid", "message": "WRITE-REACHED-INNER"});
    let refusal = Kind::Status { status: 422, body: Some(status.to_string()) };
    trying.outside.trouble("runtimes", 1_000, refusal);

    let tried = trying.once().await;

    assert_eq!(tried.end.state, State::Failed);
    let failure = tried.snapshot.failure.unwrap();
    assert_eq!(failure.reason, "own_cluster_unusable", "{failure}");
    assert!(!format!("{failure} {:?}", tried.journal).contains("INNER"), "{:#?}", tried.journal);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_brought_along_is_reached_where_customers_clusters_may_be_only() {
    let outside = Outside::start(&["aws"], 1).await;
    outside.running.clusters().create_runtime("theirs").unwrap();
    let kubeconfig = outside.running.clusters().kubeconfig("theirs").unwrap();
    let mut env = outside.env(&outside.clock).await;
    let clusters = crate::service::clusters(&outside.clock, outside.calls);
    env.customer_clusters = Arc::new(clusters.of_customers(Networks::default()));
    let broker = Broker::with(&outside, env, ProvisioningLimits::default()).await;

    let ended = broker.provision(&outside, &own_cluster("inner", "theirs", &kubeconfig)).await;

    assert_eq!(ended.snapshot.state, State::Failed);
    assert_eq!(ended.snapshot.failure.unwrap().reason, "own_cluster_unusable");
    let called = outside.calls().into_iter().filter(|call| call.system == "runtimes");
    assert_eq!(called.filter(|call| call.operation.is_some()).count(), 0);
}
