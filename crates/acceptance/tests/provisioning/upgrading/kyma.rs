//! Upgrades of Kyma.

use broker::{
    Details,
    operations::{Env, ProvisioningLimits, upgrade_kyma::Input},
};
use engine::State;
use serde_json::{Value, json};
use simulators::trouble::{Kind, Rule};

use super::{
    KYMA, kyma,
    views::{evaluations, notice, reconciled},
};
use crate::{
    life::{are_overridden, settings},
    orders::{OrderSpec, own_cluster},
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
