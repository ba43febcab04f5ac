//! Kyma resources whose template has moved: found and made again where they were.

use broker::operations::{Env, ProvisioningLimits, upgrade_kyma::Input};
use engine::State;
use serde_json::json;
use simulators::trouble::{Kind, Rule};

use super::{super::kyma, KYMAS, OTHER, USUAL, stored};
use crate::{orders::OrderSpec, outside::Outside, test_broker::Broker};

/// From now on templates name the other namespace.
fn move_templates(outside: &Outside) {
    let name = "kyma-templates";
    let map = outside.in_cluster("kcp", "configmaps", USUAL, name).unwrap();
    let moved =
        |text: &str| text.replace(&format!("namespace: {USUAL}"), &format!("namespace: {OTHER}"));
    let mut data = map["data"].clone();
    for text in data.as_object_mut().unwrap().values_mut() {
        *text = moved(text.as_str().unwrap()).into();
    }
    assert_ne!(data, map["data"]);
    let server = outside.running.clusters().server();
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHER}}),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": USUAL},
            "data": data,
        }),
    ] {
        server.apply("kcp", "tests", &object).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_knows_where_the_first_kyma_resource_is_before_it_is_made() {
    let outside = Outside::start(&["aws"], 1).await;
    let env = Env { lifecycle_manager: None, ..outside.env(&outside.clock).await };
    let broker = Broker::with(&outside, env, ProvisioningLimits::default()).await;
    let made = broker.provision(&outside, &OrderSpec::aws("first-kyma")).await.succeeded();
    let broker = broker.killed_and_started(&outside).await;
    let instance = &made.order.instance_id;
    move_templates(&outside);
    let before = stored(&broker, instance).await;
    assert_eq!(
        (before.kyma_name.as_deref(), before.kyma_namespace.as_deref()),
        (None, Some(USUAL))
    );

    let input = Input { dry_run: true, ..kyma(made.order.clone()) };
    Box::pin(broker.upgrade_kyma(input)).await.completed();
    assert_eq!(stored(&broker, instance).await, before, "a dry run stores nothing");
    let refused = Rule::next(1, Kind::Status { status: 422, body: None });
    outside.meet(refused.of("control-plane").on("POST", "/clusters/kcp/*/kymas$"));
    let ended = Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await;
    broker.end_maintenance().await;

    assert_eq!(ended.snapshot.state, State::Failed, "{:#?}", ended.journal);
    let after = stored(&broker, instance).await;
    assert_eq!((after.kyma_name.as_deref(), after.kyma_namespace.as_deref()), (None, Some(OTHER)));
    assert!(after.kyma_template.unwrap().contains(OTHER));
    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();
    assert!(outside.in_cluster("kcp", KYMAS, OTHER, &made.runtime()).is_some());
    assert_eq!(stored(&broker, instance).await.kyma_name, Some(made.runtime()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kyma_resource_that_is_missing_is_made_again_where_it_was() {
    let outside = Outside::start(&["aws"], 1).await;
    let broker = Broker::start(&outside).await;
    let made = broker.provision(&outside, &OrderSpec::aws("lost-kyma")).await.succeeded();
    move_templates(&outside);
    let manager = Box::pin(outside.env(&outside.clock)).await.lifecycle_manager.unwrap();
    assert!(manager.delete(USUAL, &made.runtime()).await.unwrap());
    while outside.in_cluster("kcp", KYMAS, USUAL, &made.runtime()).is_some() {
        tokio::task::yield_now().await;
    }

    Box::pin(broker.upgrade_kyma(kyma(made.order.clone()))).await.completed();

    let again = outside.in_cluster("kcp", KYMAS, USUAL, &made.runtime()).unwrap();
    let labels = &again["metadata"]["labels"];
    assert_eq!(labels["kyma-project.io/instance-id"], *made.order.instance_id);
    assert!(outside.in_cluster("kcp", KYMAS, OTHER, &made.runtime()).is_none());
}
